from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the margin of the ladder. Existing phases keep the margin that was fixed before: one standard error."""

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
