from django.db import migrations, models


class Migration(migrations.Migration):
    """Phases that exist keep the margin that their ladder had: one standard error."""

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
