from django.db import migrations, models


class Migration(migrations.Migration):
    """Change the default margin of ladder feedback to two standard errors. Existing phases are not changed.

    Ladder feedback shows only scores that exceed the team's best score by this margin.
    """

    dependencies = [
        ("challenges", "0008_phase_ladder_standard_errors"),
    ]

    operations = [
        migrations.AlterField(
            model_name="phase",
            name="ladder_standard_errors",
            field=models.FloatField(
                blank=True,
                default=2.0,
                help_text="by how many standard errors a score must beat the team's best to be shown; empty: 2",
            ),
        ),
    ]
