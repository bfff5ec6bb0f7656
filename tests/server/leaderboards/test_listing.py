"""Tests leaderboard listings: search by team name and filtering of baselines, which never change the ranks."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from server.challenges.disqualification import disqualify
from server.challenges.models import Phase, Team
from server.challenges.search_names import searchable
from server.leaderboards import listing as listings
from server.leaderboards.listing import Listing, Selection, ranks_of
from server.leaderboards.queries import ROWS_AT_ONCE, board
from tests.conftest import Make
from tests.server.conftest import Scored

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
ANYBODY = AnonymousUser()
NAMES = (
    *("Owls", "Night OWLS", "100% sure", "1000 sure", "a_b", "axb", "back\\slash", "Stra\u00dfe", "\u00c9COLE"),
    *("\u0395\u039b\u039b\u0391\u03a3", "\u5317\u4eac\u968a", "\u05e9\u05dc\u05d5\u05dd", "O'Neil; DROP", '"quoted"'),
)
FOUND = {
    "owl": ["Owls", "Night OWLS"],
    "OWLS": ["Owls", "Night OWLS"],
    "night  owls": ["Night OWLS"],
    "100%": ["100% sure"],
    "%": ["100% sure"],
    "a_b": ["a_b"],
    "_": ["a_b"],
    "\\": ["back\\slash"],
    "strasse": ["Stra\u00dfe"],
    "STRA\u00dfE": ["Stra\u00dfe"],
    "\u00e9cole": ["\u00c9COLE"],
    "e\u0301cole": ["\u00c9COLE"],
    "\u03bb\u03bb\u03b1\u03c2": ["\u0395\u039b\u039b\u0391\u03a3"],
    "\u4eac": ["\u5317\u4eac\u968a"],
    "\u05dc\u05d5": ["\u05e9\u05dc\u05d5\u05dd"],
    "'": ["O'Neil; DROP"],
    '"': ['"quoted"'],
    "[a-z]": [],
    "ecole": [],
    "%owl%": [],
}


def listed(phase: Phase, at: datetime | None = None, split: str = "public", **selection: Any) -> Listing:
    return Listing(board(phase, split=split, at=at, viewer=ANYBODY), Selection(**selection))


def lines(listing: Listing) -> list[tuple[int | None, str]]:
    return [(row.rank, row.team) for row in listing.page(0, listing.count)]


@pytest.fixture
def named(phase: Phase, make: Make, scored: Scored) -> Phase:
    for number, name in enumerate(NAMES):
        scored(phase, 1 - number / 100, team=make.team(phase.challenge, name=name))
    return phase


def test_a_search_ignores_letter_case_and_treats_its_text_literally(named: Phase) -> None:
    found = {text: [team for _, team in lines(listed(named, search=text))] for text in FOUND}
    assert found == FOUND


def test_a_team_that_was_found_has_its_rank_on_the_whole_leaderboard(named: Phase) -> None:
    assert lines(listed(named, search="owl")) == [(1, "Owls"), (2, "Night OWLS")]
    assert lines(listed(named, search="sure")) == [(3, "100% sure"), (4, "1000 sure")]
    assert lines(listed(named, search="quoted")) == [(len(NAMES), '"quoted"')]


def test_a_renamed_team_is_found_only_by_its_new_name(named: Phase) -> None:
    team = Team.objects.get(name="Owls")
    team.name = "Crows"
    team.save()
    assert lines(listed(named, search="crow")) == [(1, "Crows")]
    assert lines(listed(named, search="owl")) == [(2, "Night OWLS")]


def test_only_teams_with_an_entry_on_this_leaderboard_are_found(named: Phase, make: Make, scored: Scored) -> None:
    make.team(named.challenge, name="Owls without scores")
    scored(make.phase(), 0.9, team=make.team(make.challenge(), name="Owls elsewhere"))
    scored(make.phase(named.challenge), 0.9, team=make.team(named.challenge, name="Owls of another phase"))
    disqualify(team=Team.objects.get(name="Night OWLS"), by=None, reason="Two accounts")
    assert lines(listed(named, search="owls")) == [(1, "Owls")]


def test_a_search_finds_what_was_listed_at_an_earlier_time(phase: Phase, make: Make, scored: Scored) -> None:
    owls, crows = (make.team(phase.challenge, name=name) for name in ("Owls", "Crows"))
    scored(phase, 0.4, team=owls, at=NOW - 3 * DAY)
    scored(phase, 0.5, team=crows, at=NOW - 3 * DAY)
    scored(phase, 0.6, team=owls, at=NOW - DAY)
    scored(phase, 0.3, team=make.team(phase.challenge, name="Late owls"), at=NOW - DAY)
    assert lines(listed(phase, at=NOW - 2 * DAY, search="owls")) == [(2, "Owls")]
    assert lines(listed(phase, search="owls")) == [(1, "Owls"), (3, "Late owls")]
    assert listed(phase, at=NOW - 9 * DAY, search="owls").count == 0


def test_baselines_can_be_hidden_or_shown_without_teams(phase: Phase, make: Make, scored: Scored) -> None:
    for name, score, is_baseline in (("A", 0.9, False), ("Prior", 0.8, True), ("B", 0.7, False), ("Zero", 0, True)):
        scored(phase, score, team=make.team(phase.challenge, name=name, is_baseline=is_baseline))
    assert lines(listed(phase, baselines="hide")) == [(1, "A"), (2, "B")]
    assert lines(listed(phase, baselines="only")) == [(None, "Prior"), (None, "Zero")]
    assert lines(listed(phase, baselines="only", search="o")) == [(None, "Prior"), (None, "Zero")]
    assert lines(listed(phase, baselines="hide", search="o")) == []
    past = listed(phase, at=datetime.now(UTC), baselines="only")
    assert (past.count, lines(past)) == (2, [(None, "Prior"), (None, "Zero")])


def test_a_search_lists_a_limited_number_of_the_best_entries(named: Phase, monkeypatch: Any) -> None:
    whole = lines(listed(named, search="s"))
    monkeypatch.setattr(listings, "SEARCH_ROWS", len(whole))
    assert lines(listed(named, search="s")) == whole
    monkeypatch.setattr(listings, "SEARCH_ROWS", 3)
    cut = listed(named, search="s")
    assert (cut.count, cut.is_cut, lines(cut)) == (3, True, whole[:3])


def test_scattered_entries_have_their_ranks_on_the_whole_leaderboard(phase: Phase, make: Make, scored: Scored) -> None:
    random = Random(20261121)
    for number in range(60):
        team = make.team(phase.challenge, name=f"Team {number:03}", is_baseline=number % 7 == 0)
        scored(phase, random.randrange(25) / 25, team=team, at=NOW - DAY)
    for at in (None, NOW):
        whole = board(phase, split="public", at=at, viewer=ANYBODY)
        known = {row.score: row.rank for row in whole.rows if not row.baseline}
        some = random.sample(sorted(known), 9)
        assert ranks_of(whole, some) == {score: known[score] for score in some}
        found = listed(phase, at=at, search="3")
        assert lines(found) == [(row.rank, row.team) for row in whole.rows if "3" in row.team]
    assert ranks_of(whole, []) == {}


@pytest.mark.parametrize("selection", [{}, {"search": "team"}, {"baselines": "hide"}, {"baselines": "only"}])
def test_all_pages_together_contain_the_whole_listing(
    phase: Phase, make: Make, scored: Scored, selection: dict[str, str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(listings, "ROWS_AT_ONCE", ROWS_AT_ONCE // 100)
    for number in range(23):
        scored(phase, number % 5 / 5, team=make.team(phase.challenge, is_baseline=number % 3 == 0))
    found = listed(phase, **selection)
    pages = [row for start in range(0, found.count, 4) for row in found.page(start, start + 4)]
    whole = [row for chunk in found.chunks() for row in chunk]
    assert [(row.rank, row.team) for row in pages] == [(row.rank, row.team) for row in whole]
    assert len({row.team for row in pages}) == found.count == len(pages)


def test_names_that_existed_before_can_be_found() -> None:
    """The search compares normalized names, which are stored whenever a team is saved.

    For teams that are older than this column, a migration stores the normalized names. It calls the same function.
    """
    assert searchable("\uff2f\uff37\uff2c\u3000 s") == "owl s"
