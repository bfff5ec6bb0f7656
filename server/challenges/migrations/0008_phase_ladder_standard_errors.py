from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the margin by which a score must exceed the team's best score to be shown under ladder feedback.

    Existing phases keep the earlier fixed margin of one standard error.
    """

    dependencies = [
        ("challenges", "0007_join_request"),
    ]

    operations = [
        migrations.AddField(
            model_name="phase",
            name="ladder_standard_errors",
            field=models.FloatField(blank=True, default=1.0),
        ),
    ]
