"""Tests leaderboards that are sorted by another metric: the order follows the rounded values that the reader sees."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from server.challenges.disqualification import disqualify, reinstate
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.leaderboards.listing import Listing, Selection, listing_of, sort_metric
from server.leaderboards.models import MetricValue
from server.leaderboards.queries import BoardRow, board
from server.leaderboards.services.entries import rebuild
from server.leaderboards.services.verification import verify
from server.submissions.models import Evaluation, Submission
from server.submissions.signals import announce
from tests.conftest import Make
from tests.server.conftest import Scored

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
ANYBODY = AnonymousUser()
OTHERS = ("top5", "mean_class_top1", "mean_class_top5")

pytestmark = pytest.mark.phase(track="objectnet", closes_at=NOW + DAY)


def metrics(top1: float, top5: float | None, **others: float | None) -> dict[str, dict[str, float | None]]:
    return {"public": {"top1": top1, "top5": top5, "mean_class_top1": None, "mean_class_top5": None, **others}}


def listed(phase: Phase, *, viewer: Any = ANYBODY, split: str = "public", at: Any = None, **selection: str) -> Listing:
    return listing_of(board(phase, split=split, at=at, viewer=viewer), Selection(**{"sort": "top5", **selection}))


def lines(listing: Listing) -> list[tuple[int | None, str]]:
    return [(row.rank, row.team) for row in listing.page(0, listing.count)]


def by_hand(rows: list[BoardRow], metric: str) -> list[tuple[int | None, str]]:
    """Sort rows by the shown value of a metric, highest first, and return the unchanged rank and the team of each row.

    Rows with equal values keep the order in which they are given, which is by rank.
    """

    def key(row: BoardRow) -> tuple[bool, float]:
        value = row.scores.get(metric)
        return (value is None, -(value or 0.0))

    return [(row.rank, row.team) for row in sorted(rows, key=key)]


@pytest.fixture
def crowd(phase: Phase, make: Make, scored: Scored) -> Phase:
    """Create a leaderboard with equal values, undefined values, and values that are equal after rounding."""
    random = Random(20261121)
    values = (None, 0.0, 0.125, 0.12500000000000003, 0.1349, 0.135, 0.5, 0.501, 0.504, 0.505, 1.0)
    for number in range(33):
        team = make.team(phase.challenge, name=f"Team {number:02}", is_baseline=number % 9 == 0)
        given = metrics(random.randrange(12) / 12, random.choice(values), mean_class_top1=random.random())
        scored(phase, None, splits=given, team=team, at=NOW - DAY)
    return phase


@pytest.mark.parametrize("decimals", [None, 0, 1, 2])
def test_entries_are_in_the_order_of_the_shown_values_and_then_of_their_ranks(
    crowd: Phase, decimals: int | None
) -> None:
    crowd.feedback, crowd.feedback_decimals = ("exact", None) if decimals is None else ("rounded", decimals)
    for metric in OTHERS:
        found = listed(crowd, sort=metric)
        expected = by_hand(found.board.rows, metric)
        assert lines(found) == expected
        pages = [row for start in range(0, found.count, 4) for row in found.page(start, start + 4)]
        assert [(row.rank, row.team) for row in pages] == expected
        assert [(row.rank, row.team) for chunk in found.chunks() for row in chunk] == expected


def test_search_and_baselines_combine_with_the_order(crowd: Phase) -> None:
    whole = listed(crowd).board.rows
    for number in "01":
        some = [row for row in whole if number in row.team and not row.baseline]
        assert lines(listed(crowd, search=number, baselines="hide")) == by_hand(some, "top5")
    assert lines(listed(crowd, baselines="only")) == by_hand([row for row in whole if row.baseline], "top5")


def test_entries_are_sorted_by_the_values_that_the_viewer_sees(phase: Phase, make: Make, scored: Scored) -> None:
    organizer = make.user()
    phase.challenge.organizers.add(organizer)
    phase.feedback, phase.feedback_decimals = "rounded", 1
    phase.save()
    for name, top1, top5 in (("A", 0.9, 0.51), ("B", 0.8, 0.52)):
        scored(phase, None, splits=metrics(top1, top5), team=make.team(phase.challenge, name=name))
    assert lines(listed(phase)) == [(1, "A"), (2, "B")]
    assert lines(listed(phase, viewer=organizer)) == [(2, "B"), (1, "A")]


def test_private_values_determine_the_order_of_the_private_leaderboard_only(
    phase: Phase, make: Make, scored: Scored
) -> None:
    for name, public, private in (("A", 0.6, 0.7), ("B", 0.7, 0.6)):
        both = {**metrics(0.5, public), "private": metrics(0.5, private)["public"]}
        scored(phase, None, splits=both, team=make.team(phase.challenge, name=name), at=NOW - DAY)
    assert lines(listed(phase)) == [(1, "B"), (1, "A")]
    with pytest.raises(Refused):
        listed(phase, split="private")
    phase.closes_at = NOW - DAY / 2
    phase.save()
    assert lines(listed(phase, split="private")) == [(1, "A"), (1, "B")]


def test_a_leaderboard_of_an_earlier_time_is_always_sorted_by_rank(crowd: Phase) -> None:
    found = listed(crowd, at=NOW)
    assert lines(found) == [(row.rank, row.team) for row in found.board.rows]


@pytest.mark.phase(feedback="ladder")
def test_under_ladder_feedback_entries_are_sorted_by_published_values(phase: Phase, make: Make, scored: Scored) -> None:
    a, b = (make.team(phase.challenge, name=name) for name in "AB")
    for team, top1, top5 in ((a, 0.4, 0.5), (b, 0.3, 0.6)):
        one = scored(phase, None, splits=metrics(top1, top5), team=team)
        Evaluation.objects.filter(submission=one).update(published=one.evaluations.get())
    scored(phase, None, splits=metrics(0.9, 0.99), team=a)
    rebuild(phase)
    assert lines(listed(phase)) == [(2, "B"), (1, "A")]


def test_values_are_updated_with_every_change_of_an_entry(phase: Phase, make: Make, scored: Scored) -> None:
    team = make.team(phase.challenge, name="A")
    scored(phase, None, splits=metrics(0.4, 0.5), team=team)
    scored(phase, None, splits=metrics(0.5, 0.2), team=team)
    scored(phase, None, splits=metrics(0.3, 0.9), team=team)
    assert set(MetricValue.objects.filter(metric="top5", board__kind="public").values_list("value")) == {(0.2,)}
    best = Submission.objects.get(evaluations__scores__value=0.2)
    Submission.objects.filter(pk=best.pk).update(status="rejected")
    announce(phase, [team.pk])
    assert set(MetricValue.objects.filter(metric="top5", board__kind="public").values_list("value")) == {(0.5,)}
    disqualify(team=team, by=None, reason="Two accounts")
    assert not MetricValue.objects.exists()
    reinstate(team=Team.objects.get(), by=None)
    assert MetricValue.objects.filter(board__kind="public").count() == len(OTHERS)
    make.truth(phase)
    phase.refresh_from_db()
    scored(phase, None, splits=metrics(0.6, 0.7), team=team)
    assert [row.scores["top5"] for row in listed(phase).page(0, 9)] == [0.7]
    assert list(verify(phase)) == []


def test_a_wrong_value_is_found_and_corrected(crowd: Phase) -> None:
    assert list(verify(crowd)) == []
    some = MetricValue.objects.filter(metric="mean_class_top1")
    some[0].delete()
    MetricValue.objects.filter(pk=some[1].pk).update(value=7)
    assert len(list(verify(crowd))) == 2
    rebuild(crowd)
    assert list(verify(crowd)) == []


def test_entries_are_sorted_by_rank_if_the_metric_is_not_shown(phase: Phase) -> None:
    track = phase.declared_track
    assert [sort_metric(track, name) for name in ("top5", "top1", "mAP", "", "nonsense")] == ["top5", "", "", "", ""]
