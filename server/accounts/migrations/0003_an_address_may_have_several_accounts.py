from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0002_confirmed_addresses_of_known_accounts"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="user", name="email_unique_in_any_case"),
        migrations.AlterField(model_name="user", name="email", field=models.EmailField(max_length=254)),
    ]
