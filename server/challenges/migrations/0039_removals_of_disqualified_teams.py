from django.db import migrations


def add_removals(apps, schema_editor):
    """Create a removal record for each disqualified team, with the time of its removal from the leaderboards.

    Earlier removals of reinstated teams are left out, because their times were not stored.
    """
    Team, Removal = (apps.get_model("challenges", name) for name in ("Team", "Removal"))
    rows = Team.objects.filter(disqualified_at__isnull=False).values_list("pk", "disqualified_at")
    Removal.objects.bulk_create([Removal(team_id=team, removed_at=at) for team, at in rows], batch_size=500)


class Migration(migrations.Migration):

    dependencies = [
        ('challenges', '0038_removals'),
    ]

    operations = [migrations.RunPython(add_removals, migrations.RunPython.noop, elidable=True)]
