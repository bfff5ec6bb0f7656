from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("challenges", "0013_truth_used"),
        ("organize", "0002_truths_of_one_sha256_are_one_version"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="truth",
            constraint=models.UniqueConstraint(fields=("phase", "sha256"), name="truth_sha256_unique_in_phase"),
        ),
    ]
