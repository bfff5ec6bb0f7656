"""`verify_board` finds entries that differ from the submissions, and `--rebuild` corrects them."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.management import CommandError, call_command

from server.leaderboards.models import Board, ComparedEntry, Entry
from server.leaderboards.queries import board
from server.submissions.models import Replicates, Submission
from tests.conftest import compare_boards


def verify(*words: str) -> tuple[str, str]:
    """Run `verify_board`, and return its summary and the differences that it has found."""
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


def test_correct_leaderboards_have_no_differences(entries: Any) -> None:
    assert "1 phase match the submissions" in verify()[0]


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_kind_of_damage_is_found_and_corrected(phase: Any, entries: Any, damage: str) -> None:
    DAMAGE[damage](entries)
    message, found = verify(f"{phase.challenge.slug}/{phase.slug}")
    assert "wrong entr" in message
    assert "public" in found
    assert "match the submissions" in verify("--rebuild")[0]
    assert "match the submissions" in verify()[0]
    size = board(phase, split="public", viewer=AnonymousUser()).size
    assert size == ((1, 1) if damage == "no submission" else (2, 2))


WRONG_COMPARISON = {
    "a tie": {"tied": True},
    "another first team": {"compared_with": 7},
    "a rank interval": {"rank_low": 2, "rank_high": 2},
    "a missing rank interval": {"rank_low": None, "rank_high": None, "ranked_at": None},
    "an individual rank interval": {"is_individual": True},
}


@pytest.fixture
def compared(phase: Any, replicated: Any) -> ComparedEntry:
    """Compute ties and intervals for the entries of two teams, and return the stored result for the first entry."""
    for value in (0.8, 0.4):
        replicated(phase, [value + step / 1000 for step in range(30)])
    compare_boards()
    return ComparedEntry.objects.filter(entry__board__kind="public").earliest("pk")


def test_correct_comparisons_have_no_differences(compared: ComparedEntry) -> None:
    assert "1 phase match the submissions" in verify()[0]


@pytest.mark.parametrize("damage", WRONG_COMPARISON)
def test_every_wrong_comparison_is_found_and_computed_again(compared: ComparedEntry, damage: str) -> None:
    ComparedEntry.objects.filter(pk=compared.pk).update(**WRONG_COMPARISON[damage])
    message, found = verify()
    assert "Found 1 wrong entry in 1 phase." in message
    assert "has the comparison" in found
    assert "match the submissions" in verify("--rebuild")[0]
    assert not ComparedEntry.objects.exists()
    compare_boards()
    assert "match the submissions" in verify()[0]


def test_a_missing_comparison_of_an_entry_is_found(compared: ComparedEntry) -> None:
    compared.delete()
    assert "has the comparison None" in verify()[1]


def test_a_comparison_based_on_other_replicates_is_found(compared: ComparedEntry) -> None:
    Replicates.objects.filter(evaluation=compared.entry.evaluation).update(seed=7)
    assert "the stored comparison belongs to different entries" in verify()[1]


def test_the_comparison_of_a_leaderboard_that_has_changed_is_not_verified(
    compared: ComparedEntry, phase: Any, scored: Any
) -> None:
    ComparedEntry.objects.filter(pk=compared.pk).update(tied=True)
    scored(phase, 0.9)
    assert "match the submissions" in verify()[0]


def test_an_unknown_phase_is_an_error(db: None) -> None:
    assert "There is no phase c/x" in verify("c/x")[0]
