from datetime import UTC, datetime

from django.db import migrations


def mark(apps, schema_editor):
    """Set `revealed_at` of all closed phases, because participants could already read their private scores."""
    now = datetime.now(UTC)
    Phase = apps.get_model("challenges", "Phase")
    for phase in Phase.objects.select_related("challenge"):
        closing = phase.closes_at or phase.challenge.closes_at
        if closing is not None and closing < now:
            Phase.objects.filter(pk=phase.pk).update(revealed_at=closing)


class Migration(migrations.Migration):
    dependencies = [("challenges", "0011_phase_revealed_at")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
