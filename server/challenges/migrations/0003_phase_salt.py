from django.db import migrations, models


class Migration(migrations.Migration):
    """Phases get a salt with their first import; those that exist keep the split and the draws that they have."""

    dependencies = (("challenges", "0002_phase_ladder_shows_no_classes"),)

    operations = (
        migrations.AddField(
            model_name="phase",
            name="salt",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=34),
        ),
    )
