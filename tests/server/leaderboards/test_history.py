"""After random events, entries match the submissions, and the leaderboards of earlier times can still be read."""

import pytest

from evaluator import ranking
from server.challenges.models import Challenge, Team
from server.clock import database_now
from server.leaderboards.queries import board
from server.leaderboards.services.verification import verify
from tests.server.leaderboards.entries_by_hand import by_hand
from tests.server.leaderboards.random_history import ANYBODY, History, Shown

EVENTS = 100
KINDS = {
    *("record", "reject", "rerun", "choose", "disqualify", "reinstate", "apply_rescoring", "merge"),
    *("rename", "delete_account", "freeze", "lift"),
}

pytestmark = pytest.mark.usefixtures("inline_queue", "db")


def assert_as_by_hand(history: History) -> None:
    phase = history.current()
    for split in ("public", "private", "all"):
        rows = board(phase, split=split, viewer=history.organizer).rows
        assert [(row.team_id, row.rank, row.score) for row in rows] == by_hand(phase, kind=split)
    if history.frozen is not None:
        assert history.shown()["anybody"] == without_removed(history.frozen)
        return
    rows = board(phase, split="public", viewer=ANYBODY).rows
    kind = "published" if phase.is_ladder else "public"
    assert [(row.team_id, row.rank, row.score) for row in rows] == by_hand(phase, kind=kind)


def without_removed(frozen: Shown) -> Shown:
    """Remove the teams that are disqualified now from a frozen leaderboard. Return the other rows with new ranks."""
    removed = {*Team.objects.exclude(disqualified_at=None).values_list("pk", flat=True)}
    kept = [row for row in frozen if row[0] not in removed]
    ranks = ranking.ranks([(row[2], row[1] is None) for row in kept])
    return [(row[0], rank, *row[2:]) for row, rank in zip(kept, ranks, strict=True)]


@pytest.mark.parametrize(("seed", "feedback"), [(1, "exact"), (2, "ladder")])
def test_after_every_event_entries_agree_with_submissions_and_at_shows_earlier_leaderboards(
    seed: int, feedback: str
) -> None:
    history = History(seed, feedback=feedback)
    snapshots = []
    for moment in history.moments():
        snapshots.append((moment, history.shown()))
        if len(snapshots) > (EVENTS if history.done.keys() >= KINDS else 5 * EVENTS):
            break
        event = history.happen()
        assert list(verify(history.current())) == [], event
        assert_as_by_hand(history)
    Challenge.objects.update(closes_at=database_now())
    history.wait()
    history.wait()
    for moment, shown in snapshots:
        assert history.shown(at=moment) == shown, moment
        assert history.wrong_names(moment) == [], moment
    assert set(history.done) >= KINDS
