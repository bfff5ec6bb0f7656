"""Changes to a team's name and to its public profile, which contains its method and links to a paper and code."""

from django.db import transaction

from server.accounts.models import User
from server.accounts.names import all_looks
from server.challenges.models import Team
from server.challenges.services import chosen_name
from server.submissions.services.methods import checked_method, checked_url
from server.teams.models import TeamProfile
from server.teams.services.changes import lock, record, refuse_others


@transaction.atomic
def rename(*, team: Team, by: User, name: str) -> Team:
    """Rename a team. Only its captain may do this.

    The new name must follow the same rules as the name of a new team. Leaderboards show the new name immediately.
    """
    (team,) = lock(team)
    refuse_others(by, team)
    if name == team.name:
        return team
    others = team.challenge.teams.exclude(pk=team.pk)
    team.name = chosen_name(name, all_looks(others.values_list("name", flat=True)))
    team.save(update_fields=["name", "search_name"])
    record(by, team, action="team.renamed")
    return team


@transaction.atomic
def describe(*, team: Team, by: User, method: str, paper_url: str, code_url: str) -> TeamProfile:
    """Set the method on a team's public page: a description, and links to a paper and code.

    Only the captain may do this. An empty value removes the previous value.
    """
    (team,) = lock(team)
    refuse_others(by, team)
    values = {
        "method": checked_method(method),
        "paper_url": checked_url(paper_url),
        "code_url": checked_url(code_url),
    }
    if unchanged := TeamProfile.objects.filter(team=team, **values).first():
        return unchanged
    profile, _ = TeamProfile.objects.update_or_create(team=team, defaults=values)
    record(by, team, action="team.profile_changed", fields=sorted(name for name, value in values.items() if value))
    return profile
