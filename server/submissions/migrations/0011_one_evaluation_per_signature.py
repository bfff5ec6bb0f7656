"""Allows only one evaluation of a submission for each signature.

A signature identifies the ground truth, the parameters and the evaluator version. Leaderboards select evaluations by
signature.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("submissions", "0010_small_by_cost"),
        ("organize", "0002_truths_of_one_sha256_are_one_version"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="evaluation",
            constraint=models.UniqueConstraint(
                fields=("submission", "signature"), name="one_evaluation_per_signature"
            ),
        ),
        migrations.RemoveConstraint(model_name="evaluation", name="one_evaluation_of_a_kind"),
    ]
