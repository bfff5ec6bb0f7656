from django.db import migrations


def confirm(apps, schema_editor):
    """Mark the addresses of all existing accounts as confirmed, so that these accounts keep working."""
    using = schema_editor.connection.alias
    User, EmailAddress = apps.get_model("accounts", "User"), apps.get_model("account", "EmailAddress")
    confirmed = set(EmailAddress.objects.using(using).filter(verified=True).values_list("email", flat=True))
    addresses = []
    users = User.objects.using(using).exclude(email="").filter(emailaddress=None).order_by("pk")
    for pk, email in users.values_list("pk", "email"):
        email = email.lower()
        addresses.append(EmailAddress(user_id=pk, email=email, primary=True, verified=email not in confirmed))
        confirmed.add(email)
    EmailAddress.objects.using(using).bulk_create(addresses, batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0001_initial"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [migrations.RunPython(confirm, migrations.RunPython.noop, elidable=True)]
