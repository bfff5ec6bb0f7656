"""Stores the settings with which active truths were prepared. For all other versions they are unknown."""

from django.db import migrations

# The only tracks whose prepared files depend on a parameter.
EXPANDING = ("openimages-detection", "openimages-segmentation")


def note(apps, schema_editor):
    Truth = apps.get_model("challenges", "Truth")
    for truth in Truth.objects.filter(active=True).select_related("phase"):
        track, given = truth.phase.track, truth.phase.parameters.get("expand_hierarchy", True)
        expand = str(given).lower() in ("true", "1", "yes")  # the texts that the parameter accepts as true
        parameters = {"expand_hierarchy": expand} if track in EXPANDING else {}
        Truth.objects.filter(pk=truth.pk).update(prepared_with={"track": track, "parameters": parameters})


class Migration(migrations.Migration):
    dependencies = [("challenges", "0015_truth_prepared_with")]

    operations = [migrations.RunPython(note, migrations.RunPython.noop)]
