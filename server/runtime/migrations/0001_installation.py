from uuid import uuid4

from django.db import migrations, models


def create(apps, schema_editor):
    apps.get_model("runtime", "Installation").objects.create(key=uuid4().hex)


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=32)),
                (
                    "has_storage",
                    models.BooleanField(default=False, help_text="whether the id was written into the storage"),
                ),
            ],
        ),
        migrations.RunPython(create, migrations.RunPython.noop),
    ]
