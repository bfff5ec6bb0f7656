"""Adds the number of times that a worker died while it scored a submission."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0007_submission_turns")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="losses",
            field=models.PositiveSmallIntegerField(
                db_default=0, default=0, help_text="number of attempts during which the worker was lost"
            ),
        ),
    ]
