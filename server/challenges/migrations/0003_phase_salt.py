from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the salt of a phase, a secret from which its split and bootstrap draws are derived.

    Existing phases get no salt, so that their split and bootstrap draws do not change.
    """

    dependencies = (("challenges", "0002_phase_ladder_shows_no_classes"),)

    operations = (
        migrations.AddField(
            model_name="phase",
            name="salt",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=34),
        ),
    )
