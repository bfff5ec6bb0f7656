"""Adds the number of times that a job was postponed, which determines how long the next pause is."""

from django.db import migrations, models


def counter() -> models.PositiveSmallIntegerField:
    return models.PositiveSmallIntegerField(
        db_default=0, default=0, help_text="number of attempts that a fault of the files has postponed"
    )


class Migration(migrations.Migration):
    dependencies = [("submissions", "0013_rerun_waiting_for")]

    operations = [
        migrations.AddField(model_name="rerun", name="postponed", field=counter()),
        migrations.AddField(model_name="submission", name="postponed", field=counter()),
    ]
