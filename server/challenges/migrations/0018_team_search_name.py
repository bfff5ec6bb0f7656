"""Stores the normalized team names that searches use."""

from django.db import migrations, models

import server.challenges.search_names
from server.challenges.search_names import searchable

AT_ONCE = 1000


def fill(apps, schema_editor):
    Team = apps.get_model("challenges", "Team")
    teams = []
    for team in Team.objects.only("name").iterator(chunk_size=AT_ONCE):
        team.search_name = searchable(team.name)
        teams.append(team)
    Team.objects.bulk_update(teams, ["search_name"], batch_size=AT_ONCE // 4)


class Migration(migrations.Migration):
    dependencies = [("challenges", "0017_team_disqualified")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="search_name",
            field=server.challenges.search_names.SearchName(db_default="", default="", editable=False),
        ),
        migrations.AlterField(
            model_name="team",
            name="served_at",
            field=models.DateTimeField(
                blank=True, help_text="when scoring of one of its files last began", null=True
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
