"""A rerun whose files a worker cannot read waits for a while, like a submission."""

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
