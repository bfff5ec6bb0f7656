"""Stores the settings with which the active ground truth of each phase was prepared.

For all other versions of a ground truth, these settings are unknown.
"""

from django.db import migrations

# The tracks whose prepared ground truths depend on the parameter `expand_hierarchy`
EXPANDING = ("openimages-detection", "openimages-segmentation")


def note(apps, schema_editor):
    Truth = apps.get_model("challenges", "Truth")
    for truth in Truth.objects.filter(active=True).select_related("phase"):
        track, given = truth.phase.track, truth.phase.parameters.get("expand_hierarchy", True)
        expand = str(given).lower() in ("true", "1", "yes")  # the values of `expand_hierarchy` that mean true
        parameters = {"expand_hierarchy": expand} if track in EXPANDING else {}
        Truth.objects.filter(pk=truth.pk).update(prepared_with={"track": track, "parameters": parameters})


class Migration(migrations.Migration):
    dependencies = [("challenges", "0015_truth_prepared_with")]

    operations = [migrations.RunPython(note, migrations.RunPython.noop)]
