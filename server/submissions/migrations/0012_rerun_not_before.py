"""Adds the earliest time of the next attempt at a rerun (a job that scores a submission again) whose file could not be read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0011_one_evaluation_per_signature")]

    operations = [
        migrations.AddField(
            model_name="rerun",
            name="not_before",
            field=models.DateTimeField(blank=True, help_text="when its next attempt may begin; empty: now", null=True),
        ),
    ]
