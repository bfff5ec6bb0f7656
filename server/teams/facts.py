"""Collects the facts about teams and challenges that `server.teams.rules` needs to check a change to a team."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db.models import Count, Q, Sum

from server.challenges.models import Challenge, Membership, Phase, Team
from server.submissions.models import QuotaEntry, Submission
from server.submissions.services import quota
from server.teams.rules import PhaseTerms, TeamFacts, Terms, Use


def terms_of(challenge: Challenge, now: datetime) -> Terms:
    """Return the limits for teams in a challenge and its phases at a given time."""
    return Terms(
        max_size=challenge.team_max_size,
        now=now,
        merge_until=challenge.merge_until,
        closes_at=challenge.closes_at,
        phases={
            phase.slug: PhaseTerms(
                title=phase.title,
                per_day=phase.quota_per_day,
                days=quota.days_so_far(phase, now),
                total=phase.quota_total,
                finals=phase.finals,
                is_over=phase.has_ended(now),
            )
            for phase in Phase.objects.filter(challenge=challenge).select_related("challenge")
        },
    )


def facts_of(team: Team) -> TeamFacts:
    return facts_of_teams([team])[team.pk]


def facts_of_teams(teams: Collection[Team]) -> dict[int, TeamFacts]:
    """Return facts about each team, such as its size, keyed by team id.

    These facts decide whether a team may be changed, for example merged with another team.
    """
    keys = [team.pk for team in teams]
    sizes = dict(Membership.objects.filter(team__in=keys).order_by().values_list("team").annotate(size=Count("pk")))
    uses = uses_of(keys)
    return {
        team.pk: TeamFacts(
            name=team.name,
            size=sizes.get(team.pk, 0),
            is_baseline=team.is_baseline,
            is_merged=team.merged_into_id is not None,
            is_disqualified=team.disqualified_at is not None,
            hides_reason=not team.disqualification_is_shown,
            use=uses.get(team.pk, {}),
        )
        for team in teams
    }


def uses_of(teams: Collection[int]) -> Mapping[int, dict[str, Use]]:
    """Return how many submissions count against each team's quota, and how many it selected as final, in each phase.

    The result is keyed by team id and, for each team, by phase slug.
    """
    charged = QuotaEntry.objects.filter(team__in=teams).order_by().values_list("team", "phase__slug")
    sums = {(team, slug): used for team, slug, used in charged.annotate(used=Sum("amount"))}
    files = Submission.objects.filter(team__in=teams).order_by().values_list("team", "phase__slug")
    uses: dict[int, dict[str, Use]] = {}
    for team, slug, finals in files.annotate(finals=Count("pk", filter=Q(final=True))):
        uses.setdefault(team, {})[slug] = Use(sums.get((team, slug), 0), finals, has_files=True)
    return uses
