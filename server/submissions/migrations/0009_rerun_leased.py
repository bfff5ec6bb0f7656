"""Adds an index on running reruns, because they are counted whenever a job is claimed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("submissions", "0008_submission_losses")]

    operations = [
        migrations.AddIndex(
            model_name="rerun",
            index=models.Index(
                condition=models.Q(("lease_token__isnull", False)), fields=["lease_until"], name="rerun_leased"
            ),
        ),
    ]
