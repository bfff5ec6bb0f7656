"""Adds the reason why a rerun (a job that scores a submission again) was postponed, so that organizers can decide whether to wait."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0012_rerun_not_before")]

    operations = [
        migrations.AddField(
            model_name="rerun",
            name="waiting_for",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="which fault of the files postponed it, if any",
                max_length=300,
            ),
        ),
    ]
