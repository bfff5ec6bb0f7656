"""Adds columns: whether a submission's file is small, and the earliest time of the next attempt."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("challenges", "0005_team_served_at"), ("submissions", "0006_explanations")]

    operations = [
        migrations.AddField(
            model_name="submission",
            name="small",
            field=models.BooleanField(
                db_default=False, default=False, help_text="by its unpacked size: never waits for large"
            ),
        ),
        migrations.AddField(
            model_name="submission",
            name="not_before",
            field=models.DateTimeField(
                blank=True, help_text="when its next attempt may begin; empty: now", null=True
            ),
        ),
    ]
