"""Adds an index of running reruns (jobs that score a submission again), which are counted whenever a worker claims a job."""

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
