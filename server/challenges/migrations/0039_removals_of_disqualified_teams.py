from django.db import migrations


def add_removals(apps, schema_editor):
    """Record since when each disqualified team is off the leaderboards. Removals that have ended are unknown."""
    Team, Removal = (apps.get_model("challenges", name) for name in ("Team", "Removal"))
    rows = Team.objects.filter(disqualified_at__isnull=False).values_list("pk", "disqualified_at")
    Removal.objects.bulk_create([Removal(team_id=team, removed_at=at) for team, at in rows], batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ('challenges', '0038_removals'),
    ]

    operations = [migrations.RunPython(add_removals, migrations.RunPython.noop, elidable=True)]
