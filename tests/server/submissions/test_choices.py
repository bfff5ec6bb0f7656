"""Tests the rules for changing notes and choosing final submissions: permissions, limits, and the deadline."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from server.audit.models import Entry
from server.errors import Refused
from server.submissions.models import Status, Submission
from server.submissions.services.choices import set_final, set_note
from server.submissions.services.methods import set_method
from tests.conftest import Make

NOW = datetime.now(UTC)


@pytest.fixture
def scored(make: Make) -> Submission:
    return make.submission(make.phase(finals=1), status=Status.SCORED, finished_at=NOW)


def code_of(service: Any, **arguments: Any) -> str:
    with pytest.raises(Refused) as caught:
        service(**arguments)
    return caught.value.code


def test_a_note_is_stored_as_one_line_without_extra_spaces(scored: Submission) -> None:
    set_note(submission=scored, by=scored.user, note=" two\nlines\u202e\u2800\ufe0f ")
    scored.refresh_from_db()
    assert scored.note == "two lines"


@pytest.mark.parametrize(("note", "fits"), [("x" * 500, True), ("x" * 501, False)])
def test_the_length_of_a_note_is_limited(scored: Submission, note, fits) -> None:
    if fits:
        assert set_note(submission=scored, by=scored.user, note=note).note == note
    else:
        assert code_of(set_note, submission=scored, by=scored.user, note=note) == "invalid"


@pytest.mark.parametrize(("service", "change"), [(set_note, {"note": "x"}), (set_final, {"final": True})])
def test_people_outside_the_team_cannot_change_a_submission(make: Make, scored: Submission, service, change) -> None:
    assert code_of(service, submission=scored, by=make.user(), **change) == "not_a_member"


@pytest.mark.parametrize(
    ("service", "change"),
    [(set_note, {"note": " x "}), (set_final, {"final": True}), (set_method, {"method": "x", "code_url": ""})],
)
def test_a_change_that_changes_nothing_is_not_recorded(scored: Submission, service, change) -> None:
    stale = Submission.objects.get(pk=scored.pk)
    service(submission=scored, by=scored.user, **change)
    recorded = Entry.objects.count()
    service(submission=stale, by=scored.user, **change)
    assert Entry.objects.count() == recorded


def test_only_changed_fields_of_a_method_are_recorded(scored: Submission) -> None:
    set_method(submission=scored, by=scored.user, method="x")
    set_method(submission=scored, by=scored.user, method="x", code_url="https://example.org/")
    assert Entry.objects.latest("number").detail == {"fields": ["code_url"]}


def test_the_choice_of_a_scored_submission_can_be_undone(scored: Submission) -> None:
    assert set_final(submission=scored, by=scored.user, final=True).final
    assert not set_final(submission=scored, by=scored.user, final=False).final


def test_choosing_twice_has_no_further_effect(scored: Submission) -> None:
    set_final(submission=scored, by=scored.user, final=True)
    assert set_final(submission=scored, by=scored.user, final=True).final


def test_no_more_submissions_than_the_phase_allows_can_be_chosen(make: Make, scored: Submission) -> None:
    set_final(submission=scored, by=scored.user, final=True)
    second = make.submission(scored.phase, scored.team, status=Status.SCORED, finished_at=NOW)
    assert code_of(set_final, submission=second, by=scored.user, final=True) == "invalid"


def test_only_scored_submissions_can_be_chosen(make: Make) -> None:
    queued = make.submission(make.phase())
    assert code_of(set_final, submission=queued, by=queued.user, final=True) == "invalid"


def test_final_submissions_cannot_be_chosen_after_the_phase(scored: Submission) -> None:
    scored.phase.opens_at, scored.phase.closes_at = NOW - timedelta(days=2), NOW - timedelta(days=1)
    scored.phase.save()
    assert code_of(set_final, submission=scored, by=scored.user, final=True) == "phase_closed"
