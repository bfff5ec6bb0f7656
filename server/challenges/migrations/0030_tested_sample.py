from django.db import migrations, models


def complete_tested_settings(apps, schema_editor):
    """Add the split and the sample submission of the phase to the settings stored with gate results.

    A gate result is the outcome of the automatic checks of a ground truth. It is valid only for the stored settings.
    Without this change, no existing result would be valid.
    """
    for truth in apps.get_model("challenges", "Truth").objects.exclude(gate=None).select_related("phase"):
        split = [truth.phase.public_share, truth.phase.split_seed]
        truth.gate["settings"] |= {"split": split, "sample": ""}
        truth.save(update_fields=["gate"])


class Migration(migrations.Migration):
    dependencies = [("challenges", "0029_draft_challenges")]

    operations = [
        migrations.AddField(
            model_name="phase",
            name="sample_sha256",
            field=models.CharField(blank=True, db_default="", default="", editable=False, max_length=64),
        ),
        migrations.RunPython(complete_tested_settings, migrations.RunPython.noop),
    ]
