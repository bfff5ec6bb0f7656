"""One submission's page: it follows the status, then says the score and place, or what is wrong with the file."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.submissions.models import Submission
from server.submissions.services import lifecycle, quota
from tests.server.page import Page

NOW = datetime.now(UTC)
ROWS = [{"label": f"/m/{n}", "name": f"Class {n:02}", "ap": n / 100, "truths": 1.0 * n} for n in range(40)]
SPLITS = {"public": {"classes": ROWS}, "private": {"classes": ROWS}}


pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1)),
    pytest.mark.team(name="Owls"),
]


def running(submission: Submission, *, stage: str = "matching", progress: float = 0.5) -> Submission:
    mine = lifecycle.claim(submission.pk)
    assert mine is not None
    lifecycle.beat(mine, stage=stage, progress=progress)
    return mine


def page_of(client: Client, submission: Submission, query: str = "") -> Page:
    return Page(client.get(f"/submissions/{submission.pk}/{query}"))


def panel_of(client: Client, submission: Submission, seen: str = "") -> Any:
    return client.get(f"/submissions/{submission.pk}/panel", {"seen": seen})


# While it is on its way


def test_a_queued_one_asks_for_itself_every_second(make: Any, phase: Any, team: Any, client: Client) -> None:
    submission = make.submission(phase, team)
    panel = page_of(client, submission).all("div", id="panel")[0]
    assert panel["hx-get"] == f"/submissions/{submission.pk}/panel?seen=queued"
    assert panel["hx-trigger"] == "every 1s"


def test_without_scripts_the_page_reloads(make: Any, phase: Any, team: Any, client: Client) -> None:
    page = page_of(client, make.submission(phase, team))
    assert page.all("meta", http_equiv="refresh", content="5")
    assert page.all("noscript")


def test_nothing_is_sent_while_it_waits(make: Any, phase: Any, team: Any, client: Client) -> None:
    assert panel_of(client, make.submission(phase, team), "queued").status_code == 204


def test_a_running_one_shows_stage_and_bar(make: Any, phase: Any, team: Any, client: Client) -> None:
    submission = make.submission(phase, team)
    running(submission)
    page = Page(panel_of(client, submission, "queued"))
    assert page.all("progress")[0]["value"] == "50"
    assert page.all("li", aria_current="step")
    assert "matching" in page.words


def test_a_new_state_is_announced_once(make: Any, phase: Any, team: Any, client: Client) -> None:
    submission = make.submission(phase, team)
    running(submission)
    assert Page(panel_of(client, submission, "queued")).all("p", id="announcement")
    assert not Page(panel_of(client, submission, "running-matching")).all("p", id="announcement")


@pytest.mark.parametrize(
    ("status", "more"),
    [
        ("rejected", {"fault": "participant"}),
        ("failed", {"fault": "platform", "failure": "It broke."}),
        ("cancelled", {}),
    ],
)
def test_a_finished_one_asks_no_more(status: str, more: Any, make: Any, phase: Any, team: Any, client: Client) -> None:
    submission = make.submission(phase, team, status=status, finished_at=NOW, **more)
    page = page_of(client, submission)
    assert "hx-get" not in page.all("div", id="panel")[0]
    assert not page.all("meta", http_equiv="refresh")
    assert "Submit a file" in page.words


# When it is scored


def test_a_scored_one_says_score_place_and_signature(scored: Any, phase: Any, team: Any, client: Client) -> None:
    scored(phase, 0.9)
    submission = scored(phase, 0.8618052665698489, team=team)
    page = page_of(client, submission)
    assert "mAP 0.86181 Rank 2" in page.words
    assert page.all("span", title="0.8618052665698489")
    assert phase.signature in page.words.replace(" ", "")


def test_digits_beyond_the_interval_are_faint(scored: Any, phase: Any, team: Any, client: Client) -> None:
    submission = scored(phase, 0.60312, team=team, interval=(0.60012, 0.60612))
    assert b"0.60<i>312</i></span>" in client.get(f"/submissions/{submission.pk}/").content


def test_one_that_is_not_the_best_says_why_it_has_no_place(scored: Any, phase: Any, team: Any, client: Client) -> None:
    scored(phase, 0.9, team=team)
    words = page_of(client, scored(phase, 0.5, team=team)).words
    assert "Rank not on the leaderboard" in words


def test_rounded_feedback_shows_no_more_digits(make: Any, scored: Any, member: Any, client: Client) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=2)
    submission = scored(phase, 0.86181, team=make.team(phase.challenge, member))
    page = page_of(client, submission)
    assert "mAP 0.86 Rank" in page.words
    assert b"0.8618" not in client.get(f"/submissions/{submission.pk}/").content


def test_an_undefined_score_is_called_so(scored: Any, phase: Any, team: Any, client: Client) -> None:
    assert "mAP undefined" in page_of(client, scored(phase, None, team=team)).words


def test_times_are_told_in_whole_seconds_and_cost_not_at_all(
    scored: Any, phase: Any, team: Any, client: Client
) -> None:
    submission = scored(phase, 0.5, team=team, at=datetime(2026, 5, 4, 3, 2, 1, 987_654, tzinfo=UTC))
    submission.evaluations.update(cpu_seconds=98.7654321)
    for path in ("/", "/panel"):
        content = client.get(f"/submissions/{submission.pk}{path}").content
        assert b"2026-05-04T03:02:01+00:00" in content
        assert b"987" not in content
        assert b"98.765" not in content


def test_private_numbers_stay_hidden_before_the_end(scored: Any, phase: Any, team: Any, client: Client) -> None:
    submission = scored(phase, 0.5, private=0.12345, team=team)
    assert b"0.12345" not in client.get(f"/submissions/{submission.pk}/").content


def test_after_the_end_the_private_score_is_the_headline(make: Any, scored: Any, member: Any, client: Client) -> None:
    phase = make.phase(closes_at=NOW - timedelta(hours=1))
    submission = scored(phase, 0.5, private=0.4, team=make.team(phase.challenge, member))
    assert "mAP, private 0.40000" in page_of(client, submission).words


def test_notices_are_shown(scored: Any, phase: Any, team: Any, client: Client) -> None:
    notices = [{"code": "unknown_images", "message": "ignored rows", "count": 1234}]
    words = page_of(client, scored(phase, 0.5, team=team, report={"notices": notices})).words
    assert "unknown_images ignored rows 1,234" in words


# Class by class


def test_classes_are_hidden_unless_the_policy_shows_them(scored: Any, phase: Any, team: Any, client: Client) -> None:
    submission = scored(phase, 0.5, team=team, report={"splits": SPLITS})
    assert "Class 39" not in page_of(client, submission).words


@pytest.fixture
def open_classes(scored: Any, phase: Any, team: Any) -> Submission:
    phase.feedback_classes = True
    phase.save()
    return scored(phase, 0.5, team=team, report={"splits": SPLITS})  # type: ignore[no-any-return]


def test_the_first_25_are_shown_largest_first(open_classes: Submission, client: Client) -> None:
    page = page_of(client, open_classes)
    assert "1–25 of 40" in page.words
    assert page.words.index("Class 39") < page.words.index("Class 15")
    assert "Class 14" not in page.words
    assert page.all("th", aria_sort="descending")


def test_rounded_feedback_shows_no_more_digits_of_a_class(make: Any, scored: Any, member: Any, client: Client) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=2, feedback_classes=True)
    rows = [{"label": "/m/1", "name": "Cat", "ap": 0.86181, "truths": 4.123456}]
    team = make.team(phase.challenge, member)
    html = client.get(
        f"/submissions/{scored(phase, 0.5, team=team, report={'splits': {'public': {'classes': rows}}}).pk}/"
    ).content
    assert b"0.86" in html
    assert b"0.8618" not in html
    assert b"4.123" not in html


def test_classes_that_round_to_the_same_are_not_told_apart_by_their_order(
    make: Any, scored: Any, member: Any, client: Client
) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=1, feedback_classes=True)
    rows = [{"label": f"/m/{n}", "name": f"Class {n}", "ap": 0.5 + n / 100, "truths": 1.0} for n in range(3)]
    submission = scored(
        phase, 0.5, team=make.team(phase.challenge, member), report={"splits": {"public": {"classes": rows}}}
    )
    words = page_of(client, submission).words
    assert words.index("Class 0") < words.index("Class 1") < words.index("Class 2")


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ("?q=class+07", "Class 07", "Class 08"),
        ("?q=/m/12", "Class 12", "Class 13"),
        ("?sort=ap", "Class 00", "Class 39"),
        ("?sort=name", "Class 00", "Class 39"),
        ("?sort=-name", "Class 39", "Class 00"),
        ("?page=2", "Class 14", "Class 39"),
        ("?sort=nonsense&page=x&split=private", "Class 39", "Class 00"),
    ],
)
def test_searching_and_sorting(
    query: str, there: str, not_there: str, open_classes: Submission, client: Client
) -> None:
    words = page_of(client, open_classes, query).words
    assert there in words
    assert not_there not in words


# When it is not scored


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


def test_every_defect_is_shown_with_its_place(make: Any, phase: Any, team: Any, client: Client) -> None:
    rejected = make.submission(phase, team, status="rejected", fault="participant", problems=DEFECTS, finished_at=NOW)
    words = page_of(client, rejected).words
    assert "1,205 defects" in words
    assert "not_finite 1,204 found, the first 1 shown" in words
    assert "17 Score i1 2 'NaN' is no number" in words
    assert "1200 LabelName i2 'cat' is no class" in words


def test_a_file_that_was_not_read_to_its_end_has_more_defects_than_are_counted(
    make: Any, phase: Any, team: Any, client: Client
) -> None:
    problems = {**DEFECTS, "more": True}
    rejected = make.submission(phase, team, status="rejected", fault="participant", problems=problems, finished_at=NOW)
    words = page_of(client, rejected).words
    assert "More than 1,205 defects" in words
    assert "The check stopped at this number of defects." in words


def test_what_a_file_says_is_not_taken_for_html(make: Any, phase: Any, team: Any, client: Client) -> None:
    evil = {"errors": [{"code": "bad_header", "message": "<script>x</script>", "line": 1}], "total": 1}
    rejected = make.submission(phase, team, status="rejected", fault="participant", problems=evil, finished_at=NOW)
    assert not page_of(client, rejected).inline


def test_given_back_quota_is_said(make: Any, phase: Any, team: Any, client: Client) -> None:
    submission = make.submission(phase, team)
    quota.charge(submission, now=NOW)
    lifecycle.reject(running(submission), findings=DEFECTS)
    assert page_of(client, submission).all("p", id="given-back")


@pytest.mark.parametrize(("fault", "words"), [("platform", "on our side"), ("organizer", "organizers")])
def test_a_failed_one_says_whose_fault_it_is(
    fault: str, words: str, make: Any, phase: Any, team: Any, client: Client
) -> None:
    failed = make.submission(phase, team, status="failed", fault=fault, failure="It needs memory.", finished_at=NOW)
    page = page_of(client, failed)
    assert "It needs memory." in page.words
    assert words in page.words
