"""A disqualified team does not appear on leaderboards, but its submissions are kept and it can be reinstated."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from server.challenges.disqualification import disqualify, reinstate
from server.challenges.models import Team
from server.errors import Refused
from server.leaderboards.queries import board
from server.leaderboards.standings import TAKEN_OFF, standing
from server.submissions.models import Submission
from tests.server.conftest import Scored


@pytest.fixture
def organizer(phase: Any, make: Any) -> Any:
    user = make.user()
    phase.challenge.organizers.add(user)
    return user


@pytest.fixture
def best(phase: Any, make: Any, scored: Scored) -> Submission:
    """Create scored submissions by two teams, and return the submission with the higher score."""
    scored(phase, 0.5, team=make.team(phase.challenge, name="Second"))
    return scored(phase, 0.9, team=make.team(phase.challenge, name="First"))


def ranks(phase: Any, split: str = "public", viewer: Any = None) -> list[tuple[int | None, str]]:
    rows = board(phase, split=split, viewer=viewer or AnonymousUser()).rows
    return [(row.rank, row.team) for row in rows]


def test_a_disqualified_team_leaves_every_leaderboard_and_the_others_move_up(
    phase: Any, best: Submission, organizer: Any
) -> None:
    disqualify(team=best.team, by=organizer, reason="Two  accounts")
    assert ranks(phase) == [(1, "Second")]
    assert ranks(phase, split="all", viewer=organizer) == [(1, "Second")]
    assert Team.objects.get(pk=best.team_id).disqualification_reason == "Two accounts"
    assert Submission.objects.get(pk=best.pk).status == "scored"


def test_a_disqualified_team_can_read_the_reason(phase: Any, best: Submission, organizer: Any) -> None:
    disqualify(team=best.team, by=organizer, reason="Two accounts")
    one = Submission.objects.get(pk=best.pk)
    assert "Two accounts" in standing(one, now=one.received_at).why_not


def test_a_team_does_not_read_a_reason_that_is_not_shown(phase: Any, best: Submission, organizer: Any) -> None:
    disqualify(team=best.team, by=organizer, reason="Two accounts", show=False)
    assert ranks(phase) == [(1, "Second")]
    read = Submission.objects.select_related("phase__challenge", "team").get(pk=best.pk)
    assert standing(read, now=datetime.now(UTC)).why_not == TAKEN_OFF


def test_scores_recorded_during_a_disqualification_count_after_reinstatement(
    phase: Any, best: Submission, organizer: Any, scored: Scored
) -> None:
    disqualify(team=best.team, by=organizer, reason="Two accounts")
    scored(phase, 0.95, team=best.team)
    assert ranks(phase) == [(1, "Second")]
    reinstate(team=best.team, by=organizer)
    assert [(row.team, row.score, row.entries) for row in board(phase, split="public", viewer=organizer).rows] == [
        ("First", 0.95, 2),
        ("Second", 0.5, 1),
    ]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "a\u202eb"])
def test_the_reason_for_a_disqualification_must_be_one_line(best: Submission, organizer: Any, reason: str) -> None:
    with pytest.raises(Refused) as refusal:
        disqualify(team=best.team, by=organizer, reason=reason)
    assert refusal.value.code == "invalid"


def test_only_organizers_can_disqualify_and_reinstate(best: Submission, make: Any) -> None:
    for service, words in ((disqualify, {"reason": "Mine"}), (reinstate, {})):
        with pytest.raises(Refused) as refusal:
            service(team=best.team, by=make.user(), **words)
        assert refusal.value.code == "forbidden"


def test_a_team_that_is_not_disqualified_cannot_be_reinstated(best: Submission) -> None:
    with pytest.raises(Refused) as refusal:
        reinstate(team=best.team, by=None)
    assert refusal.value.code == "invalid"
