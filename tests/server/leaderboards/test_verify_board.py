"""`verify_board` finds what differs from the submissions, and `--rebuild` corrects it."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.management import CommandError, call_command

from server.leaderboards.models import Board, Entry
from server.leaderboards.queries import board
from server.submissions.models import Submission


def verify(*words: str) -> tuple[str, str]:
    """Return the output, and the differences that were found."""
    out, err = StringIO(), StringIO()
    try:
        call_command("verify_board", *words, stdout=out, stderr=err)
    except CommandError as error:
        return str(error), err.getvalue()
    return out.getvalue(), err.getvalue()


@pytest.fixture
def entries(phase: Any, make: Any, scored: Any) -> Any:
    for name, score in (("A", 0.9), ("B", 0.8)):
        scored(phase, score, private=score, team=make.team(phase.challenge, name=name))
    return Entry.objects.filter(board__kind="public")


DAMAGE = {
    "another score": lambda entries: entries.filter(team__name="A").update(score=0.1),
    "an end": lambda entries: entries.filter(team__name="A").update(low=0.1, high=0.2),
    "no entry": lambda entries: entries.filter(team__name="A").delete(),
    "a count": lambda entries: entries.filter(team__name="A").update(submissions=7),
    "a size": lambda entries: Board.objects.filter(kind="public").update(listed=7),
    "no submission": lambda entries: Submission.objects.filter(team__name="A").update(
        status="queued", finished_at=None
    ),
}


def test_sound_leaderboards_have_no_differences(entries: Any) -> None:
    assert "1 phases are what their submissions say" in verify()[0]


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_damage_is_found_and_corrected(phase: Any, entries: Any, damage: str) -> None:
    DAMAGE[damage](entries)
    message, found = verify(f"{phase.challenge.slug}/{phase.slug}")
    assert "are wrong" in message
    assert "public" in found
    assert "are what their submissions say" in verify("--rebuild")[0]
    assert "are what their submissions say" in verify()[0]
    size = board(phase, split="public", viewer=AnonymousUser()).size
    assert size == ((1, 1) if damage == "no submission" else (2, 2))


def test_an_unknown_phase_is_an_error(db: None) -> None:
    assert "There is no phase c/x" in verify("c/x")[0]
