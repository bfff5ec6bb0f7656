"""Tests the page of a submission, which shows its status, and then its score and rank, or the defects of its file."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.pages.submission.defect_groups import defect_groups
from server.pages.submission.status_messages import STOPPED_WORKERS, fault_message
from server.submissions.models import Submission
from server.submissions.services import leases, lifecycle, quota
from tests.conftest import Make
from tests.server.conftest import Scored, refresh_boards
from tests.server.page import Page

NOW = datetime.now(UTC)
ROWS = [{"label": f"/m/{n}", "name": f"Class {n:02}", "ap": n / 100, "truths": 1.0 * n} for n in range(40)]
SPLITS = {"public": {"classes": ROWS}, "private": {"classes": ROWS}}


pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1)),
    pytest.mark.team(name="Owls"),
]


def running(submission: Submission, *, stage: str = "matching", progress: float = 0.5) -> Submission:
    mine = leases.claim(Submission, submission.pk)
    assert mine is not None
    lifecycle.report_progress(mine, stage=stage, progress=progress)
    return mine


def page_of(client: Client, submission: Submission, query: str = "") -> Page:
    return Page(client.get(f"/submissions/{submission.pk}/{query}"))


def test_a_submission_that_is_not_an_entry_shows_why_and_the_next_rank_of_the_team(
    client: Client, phase: Phase, team: Team, scored: Scored
) -> None:
    scored(phase, 0.875)
    scored(phase, 0.5, team=team)
    page = page_of(client, scored(phase, 0.25, team=team))
    assert "holds its place on the leaderboard. The score at rank 1 is higher by 0.37500" in page.words


@pytest.mark.phase(feedback="ladder")
def test_under_ladder_feedback_no_submission_shows_a_next_rank(
    client: Client, phase: Phase, team: Team, scored: Scored
) -> None:
    for one in (scored(phase, 0.875), own := scored(phase, 0.5, team=team)):
        evaluation = one.evaluations.get()
        evaluation.published = evaluation
        evaluation.save()
    refresh_boards()
    page = page_of(client, own)
    assert page.context["standing"].rank == 2
    assert page.context["next_rank"] is None


def test_a_scored_submission_shows_score_rank_and_signature(
    scored: Scored, phase: Phase, team: Team, client: Client
) -> None:
    scored(phase, 0.9)
    submission = scored(phase, 0.8618052665698489, team=team)
    page = page_of(client, submission)
    assert "mAP 0.86181 Rank 2" in page.words
    assert page.all("span", title="0.8618052665698489")
    assert phase.signature in page.words.replace(" ", "")


def test_digits_beyond_the_interval_are_faint(scored: Scored, phase: Phase, team: Team, client: Client) -> None:
    submission = scored(phase, 0.60312, team=team, interval=(0.60012, 0.60612))
    assert b"0.60<i>312</i></span>" in client.get(f"/submissions/{submission.pk}/").content


def test_the_page_of_a_submission_that_is_not_the_best_explains_why_it_has_no_rank(
    scored: Scored, phase: Phase, team: Team, client: Client
) -> None:
    scored(phase, 0.9, team=team)
    page = page_of(client, scored(phase, 0.5, team=team))
    standing = page.context["standing"]
    assert not standing.on_board
    assert standing.why_not in page.words


def test_rounded_feedback_shows_no_more_digits(make: Make, scored: Scored, member: User, client: Client) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=2)
    submission = scored(phase, 0.86181, team=make.team(phase.challenge, member))
    page = page_of(client, submission)
    assert "mAP 0.86 Rank" in page.words
    assert b"0.8618" not in client.get(f"/submissions/{submission.pk}/").content


def test_an_undefined_score_is_shown_as_undefined(scored: Scored, phase: Phase, team: Team, client: Client) -> None:
    assert page_of(client, scored(phase, None, team=team)).all("span", class_="honest-undefined")


def test_times_have_whole_seconds_and_cpu_time_is_not_shown(
    scored: Scored, phase: Phase, team: Team, client: Client
) -> None:
    submission = scored(phase, 0.5, team=team, at=datetime(2026, 5, 4, 3, 2, 1, 987_654, tzinfo=UTC))
    submission.evaluations.update(cpu_seconds=98.7654321)
    for path in ("/", "/panel"):
        content = client.get(f"/submissions/{submission.pk}{path}").content
        assert b"2026-05-04T03:02:01+00:00" in content
        assert b"02:01." not in content
        assert b"98.765" not in content


def test_private_numbers_stay_hidden_before_the_end(scored: Scored, phase: Phase, team: Team, client: Client) -> None:
    submission = scored(phase, 0.5, private=0.12345, team=team)
    assert b"0.12345" not in client.get(f"/submissions/{submission.pk}/").content


def test_after_the_end_the_private_score_is_the_headline(
    make: Make, scored: Scored, member: User, client: Client
) -> None:
    phase = make.phase(closes_at=NOW - timedelta(hours=1))
    submission = scored(phase, 0.5, private=0.4, team=make.team(phase.challenge, member))
    assert "mAP, private 0.40000" in page_of(client, submission).words


def test_notices_are_shown(scored: Scored, phase: Phase, team: Team, client: Client) -> None:
    notices = [{"code": "unknown_images", "message": "ignored rows", "count": 1234}]
    words = page_of(client, scored(phase, 0.5, team=team, report={"notices": notices})).words
    assert "ignored rows (1,234 times) unknown_images" in words
    assert words.index("ignored rows") < words.index("0.50000")


def test_classes_are_hidden_unless_the_policy_shows_them(
    scored: Scored, phase: Phase, team: Team, client: Client
) -> None:
    submission = scored(phase, 0.5, team=team, report={"splits": SPLITS})
    assert "Class 39" not in page_of(client, submission).words


@pytest.fixture
def open_classes(scored: Scored, phase: Phase, team: Team) -> Submission:
    phase.feedback_classes = True
    phase.save()
    return scored(phase, 0.5, team=team, report={"splits": SPLITS})  # type: ignore[no-any-return]


def test_the_first_25_classes_are_shown_in_descending_order(open_classes: Submission, client: Client) -> None:
    page = page_of(client, open_classes, "report/classes")
    assert "1–25 of 40" in page.words
    assert page.words.index("Class 39") < page.words.index("Class 15")
    assert "Class 14" not in page.words
    assert page.all("th", aria_sort="descending")


def test_rounded_feedback_shows_no_more_digits_of_a_class(
    make: Make, scored: Scored, member: User, client: Client
) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=2, feedback_classes=True)
    rows = [{"label": "/m/1", "name": "Cat", "ap": 0.86181, "truths": 4.123456}]
    team = make.team(phase.challenge, member)
    submission = scored(phase, 0.5, team=team, report={"splits": {"public": {"classes": rows}}})
    html = client.get(f"/submissions/{submission.pk}/report/classes").content
    assert b"0.86" in html
    assert b"0.8618" not in html
    assert b"4.123" not in html


def test_classes_that_round_to_the_same_value_are_not_sorted_by_their_exact_values(
    make: Make, scored: Scored, member: User, client: Client
) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=1, feedback_classes=True)
    rows = [{"label": f"/m/{n}", "name": f"Class {n}", "ap": 0.5 + n / 100, "truths": 1.0} for n in range(3)]
    submission = scored(
        phase, 0.5, team=make.team(phase.challenge, member), report={"splits": {"public": {"classes": rows}}}
    )
    words = page_of(client, submission, "report/classes").words
    assert words.index("Class 0") < words.index("Class 1") < words.index("Class 2")


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("report/classes?q=class+07", "Class 07", "Class 08"),
        ("report/classes?q=/m/12", "Class 12", "Class 13"),
        ("report/classes?sort=ap", "Class 00", "Class 39"),
        ("report/classes?sort=name", "Class 00", "Class 39"),
        ("report/classes?sort=-name", "Class 39", "Class 00"),
        ("report/classes?page=2", "Class 14", "Class 39"),
        ("report/classes?sort=nonsense&page=x&split=private", "Class 39", "Class 00"),
    ],
)
def test_the_table_of_classes_can_be_searched_and_sorted(
    query: str, there: str, not_there: str, open_classes: Submission, client: Client
) -> None:
    words = page_of(client, open_classes, query).words
    assert there in words
    assert not_there not in words


# The following tests are about submissions without a score.


DEFECTS = {
    "errors": [
        {
            "code": "not_finite",
            "message": "'NaN' is no number",
            "line": 17,
            "column": "Score",
            "image": "i1",
            "token": 2,
        },
        {"code": "unknown_label", "message": "'cat' is no class", "line": 1200, "column": "LabelName", "image": "i2"},
    ],
    "counts": {"not_finite": 1204, "unknown_label": 1},
    "total": 1205,
    "notices": [],
}


def test_every_defect_is_shown_with_its_location(make: Make, phase: Phase, team: Team, client: Client) -> None:
    rejected = make.submission(phase, team, status="rejected", fault="participant", problems=DEFECTS, finished_at=NOW)
    page = page_of(client, rejected)
    words = page.words
    assert page.context["defects"] == "1,205 defects"
    assert [(one.code, one.count, one.is_truncated) for one in defect_groups(DEFECTS)] == [
        ("not_finite", 1204, True),
        ("unknown_label", 1, False),
    ]
    assert "17 Score i1 2 'NaN' is no number" in words
    assert "1200 LabelName i2 'cat' is no class" in words


def test_a_file_that_was_not_read_to_its_end_may_have_more_defects(
    make: Make, phase: Phase, team: Team, client: Client
) -> None:
    problems = {**DEFECTS, "more": True}
    rejected = make.submission(phase, team, status="rejected", fault="participant", problems=problems, finished_at=NOW)
    assert page_of(client, rejected).context["defects"] == "At least 1,205 defects"


def test_text_from_a_file_is_not_interpreted_as_html(make: Make, phase: Phase, team: Team, client: Client) -> None:
    evil = {"errors": [{"code": "bad_header", "message": "<script>x</script>", "line": 1}], "total": 1}
    rejected = make.submission(phase, team, status="rejected", fault="participant", problems=evil, finished_at=NOW)
    assert not page_of(client, rejected).inline


def test_a_submission_that_does_not_count_is_reported(make: Make, phase: Phase, team: Team, client: Client) -> None:
    submission = make.submission(phase, team)
    quota.charge(submission, now=NOW)
    lifecycle.reject(running(submission), findings=DEFECTS)
    assert page_of(client, submission).all("p", id="given-back")


@pytest.mark.parametrize(("losses", "charged"), [(1, False), (2, True)])
def test_the_page_of_a_rejected_file_that_stopped_two_workers_says_that_it_uses_quota(
    make: Make, phase: Phase, team: Team, client: Client, losses: int, charged: bool
) -> None:
    submission = make.submission(phase, team, losses=losses)
    quota.charge(submission, now=NOW)
    lifecycle.reject(running(submission), findings=DEFECTS)
    page = page_of(client, submission)
    assert (STOPPED_WORKERS in page.words, bool(page.all("p", id="given-back"))) == (charged, not charged)
    quota.give_back(submission, reason="organizer", now=NOW)
    assert STOPPED_WORKERS not in page_of(client, submission).words


@pytest.mark.parametrize("address", ["/challenges/c/team", "/challenges/c/submit"])
def test_pages_about_the_quota_explain_the_cost_of_stopping_two_workers(
    client: Client, team: Team, address: str
) -> None:
    assert "worker process stops twice" in Page(client.get(address)).words


@pytest.mark.parametrize("fault", ["platform", "organizer"])
def test_the_page_of_a_failed_submission_says_who_has_to_act(
    fault: str, make: Make, phase: Phase, team: Team, client: Client
) -> None:
    failed = make.submission(phase, team, status="failed", fault=fault, failure="It needs memory.", finished_at=NOW)
    page = page_of(client, failed)
    assert "It needs memory." in page.words
    assert fault_message(failed) in page.words
