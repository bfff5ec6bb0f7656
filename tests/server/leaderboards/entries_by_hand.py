"""Computes the expected entries of leaderboards from database rows, without using the service's code."""

from typing import Any

from server.challenges.models import Phase, Team
from server.submissions.models import Score

Line = tuple[int, int | None, float]  # An entry of a leaderboard: the id of the team, its rank and its score.


def by_hand(phase: Phase, *, kind: str) -> list[Line]:
    split = "public" if kind == "published" else kind
    scores = Score.objects.filter(
        metric="mAP", evaluation__signature=phase.signature, evaluation__submission__phase=phase
    ).select_related("evaluation__submission")
    values = {(one.evaluation_id, one.split): one.value for one in scores}
    entries = [one for one in scores if one.split == split and one.value is not None]
    # If organizers change the number of final submissions per team, leaderboards continue to use the old number until
    # the next run of the sweeper.
    most = phase.board_terms.order_by("-since", "-pk")[0].finals
    lines = []
    for team in Team.objects.filter(challenge=phase.challenge_id, disqualified_at=None):
        own = [one for one in entries if one.evaluation.submission.team_id == team.pk]
        own = [one for one in own if one.evaluation.submission.status == "scored"]
        own = [one for one in own if one.evaluation.submission.hidden_at is None]
        if kind == "published":
            own = [one for one in own if one.evaluation.published_id == one.evaluation_id]
        if kind in ("private", "all") and not team.is_baseline:
            own = finals(own, values, most)
        if own:
            best = min(own, key=lambda one: (-(one.value or 0.0), one.evaluation.submission.received_at))
            lines.append((best, team))
    lines.sort(key=lambda line: (-line[0].value, line[0].evaluation.submission.received_at, line[1].pk))
    teams = [one.value for one, team in lines if not team.is_baseline]
    return [
        (team.pk, None if team.is_baseline else 1 + sum(value > one.value for value in teams), one.value)
        for one, team in lines
    ]


def finals(own: list[Any], values: dict[Any, float | None], most: int) -> list[Any]:
    chosen = [one for one in own if one.evaluation.submission.final] or own

    def public(one: Any) -> float:
        value = values.get((one.evaluation_id, "public"))
        return -1.0 if value is None else value

    return sorted(chosen, key=lambda one: (-public(one), one.evaluation.submission.received_at))[:most]
