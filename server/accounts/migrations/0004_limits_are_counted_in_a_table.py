from django.core.management import call_command
from django.db import migrations

TABLE = "podium_cache"


def create(apps, schema_editor):
    call_command("createcachetable", TABLE, database=schema_editor.connection.alias, verbosity=0)


def drop(apps, schema_editor):
    schema_editor.execute(f"DROP TABLE {TABLE}")


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0003_an_address_may_have_several_accounts"),
    ]

    operations = [migrations.RunPython(create, drop)]
