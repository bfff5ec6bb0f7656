"""For each rule about teams, tests a change that violates the rule and the most similar change that is allowed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from server.teams.rules import Change, Enter, Invite, Leave, Merge, PhaseTerms, Remove, TeamFacts, Terms, Use
from server.teams.rules import reasons_against as reasons

NOW = datetime(2026, 5, 4, tzinfo=UTC)
OWLS, CROWS = TeamFacts("Owls"), TeamFacts("Crows")
SUBMITTED = TeamFacts("Owls", use={"main": Use(1, 0, has_files=True)})
PAIR = TeamFacts("Owls", size=2)


def terms(**changes: object) -> Terms:
    phase = {name: changes.pop(name) for name in ("total", "finals", "is_over") if name in changes}
    main = PhaseTerms("Main", per_day=5, days=3, **phase)  # type: ignore[arg-type]
    return Terms(**{"max_size": 3, "now": NOW, "phases": {"main": main}, **changes})  # type: ignore[arg-type]


def using(submissions: int, finals: int = 0) -> TeamFacts:
    return TeamFacts("Owls", use={"main": Use(submissions, finals, has_files=True)})


@pytest.mark.parametrize(
    ("refused", "allowed"),
    [
        (Invite(TeamFacts("Owls", size=3)), Invite(TeamFacts("Owls", size=2))),
        (Invite(TeamFacts("Owls", is_disqualified=True)), Invite(OWLS)),
        (Invite(TeamFacts("Owls", size=0)), Invite(OWLS)),
        (Enter(CROWS, own=SUBMITTED), Enter(CROWS, own=OWLS)),
        (Enter(CROWS, own=PAIR), Enter(CROWS)),
        (Enter(CROWS, former=OWLS), Enter(CROWS, former=CROWS)),
        (Leave(PAIR, is_captain=True), Leave(PAIR, is_captain=False)),
        (Leave(SUBMITTED, is_captain=True), Leave(OWLS, is_captain=True)),
        (Remove(SUBMITTED), Remove(PAIR)),
        (Merge(TeamFacts("Owls", size=3), CROWS), Merge(PAIR, CROWS)),
        (Merge(using(10), using(6)), Merge(using(10), using(5))),
        (Merge(using(1, 2), using(1, 1)), Merge(using(1, 2), using(1))),
        (Merge(OWLS, TeamFacts("Crows", is_merged=True)), Merge(OWLS, CROWS)),
    ],
)
def test_each_rule_refuses_a_minimal_violation(refused: Change, allowed: Change) -> None:
    assert list(reasons(refused, terms()))
    assert list(reasons(allowed, terms())) == []


@pytest.mark.parametrize("end", ["merge_until", "closes_at"])
def test_teams_can_grow_until_the_last_millisecond_of_the_date(end: str) -> None:
    for change in (Invite(OWLS), Enter(OWLS), Merge(OWLS, CROWS)):
        assert list(reasons(change, terms(**{end: NOW}))) == []
        assert list(reasons(change, terms(**{end: NOW - timedelta(milliseconds=1)})))
    assert list(reasons(Leave(PAIR, is_captain=False), terms(**{end: NOW - timedelta(days=1)}))) == []


def test_a_joint_total_and_two_ranks_in_a_phase_that_is_over_are_refused() -> None:
    assert list(reasons(Merge(using(4), using(4)), terms(total=8))) == []
    assert list(reasons(Merge(using(4), using(4)), terms(total=7)))
    assert list(reasons(Merge(using(4), OWLS), terms(is_over=True))) == []
    assert list(reasons(Merge(using(4), using(4)), terms(is_over=True)))


def test_reasons_against_a_confidential_merge_contain_no_number_of_submissions() -> None:
    for limits in (terms(), terms(total=15)):
        known = list(reasons(Merge(using(10), using(6)), limits))
        hidden = list(reasons(Merge(using(10), using(6), is_confidential=True), limits))
        assert len(known) == len(hidden)
        assert all("16" in one for one in known)
        assert not any("16" in one for one in hidden)


@pytest.mark.parametrize("change", [Invite, Enter, lambda team: Merge(OWLS, team), lambda team: Merge(team, OWLS)])
def test_a_disqualification_whose_reason_is_hidden_is_not_mentioned(change: Callable[[TeamFacts], Change]) -> None:
    (reason,) = reasons(change(TeamFacts("Crows", is_disqualified=True, hides_reason=True)), terms())
    assert "Crows" in reason
    assert "disqualified" not in reason
