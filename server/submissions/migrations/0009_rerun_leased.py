"""Adds an index of running reruns, because every claim of a job counts them."""

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
