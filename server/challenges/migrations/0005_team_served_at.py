"""Adds the time at which a worker last claimed a job of each team."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("challenges", "0004_phase_candidates")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="served_at",
            field=models.DateTimeField(
                blank=True, help_text="when scoring of one of the team's files last began", null=True
            ),
        ),
    ]
