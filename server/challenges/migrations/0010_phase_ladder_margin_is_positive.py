from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("challenges", "0009_new_ladders_use_two_standard_errors"),
    ]

    operations = [
        migrations.AddConstraint(
            model_name="phase",
            constraint=models.CheckConstraint(
                condition=models.Q(("ladder_standard_errors__gt", 0), ("ladder_standard_errors__lte", 10)),
                name="phase_ladder_margin_is_positive",
                violation_error_message="A ladder's margin is above 0 and at most 10 standard errors.",
            ),
        ),
    ]
