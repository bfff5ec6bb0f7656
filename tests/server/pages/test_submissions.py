"""Tests the list of a team's submissions, in which the team edits notes and selects the submissions that count."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.organize.models import Rescoring
from server.pages.submission.score_chart import OwnScore, score_chart
from server.submissions.feedback import ScoreAccess
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

NOW = datetime.now(UTC)
ADDRESS = "/challenges/c/submissions"


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1))


def visit(client: Client) -> Page:
    return Page(client.get(ADDRESS))


def test_a_team_sees_only_its_own_submissions(make: Make, phase: Phase, team: Team, client: Client) -> None:
    make.submission(phase, team, file_name="ours.csv")
    make.submission(phase, file_name="theirs.csv")
    words = visit(client).words
    assert "ours.csv" in words
    assert "theirs.csv" not in words


def test_an_empty_list_links_to_the_submit_page(team: Team, client: Client) -> None:
    assert visit(client).all("a", class_="button", href="/challenges/c/submit")


def test_the_best_submission_is_marked_and_private_scores_are_not_shown(
    phase: Phase, team: Team, scored: Scored, client: Client
) -> None:
    scored(phase, 0.5, team=team, private=0.98765)
    scored(phase, 0.4, team=team, private=0.1)
    words = visit(client).words
    assert "best 0.50000" in words
    assert words.count("best 0.") == 1
    assert "0.98765" not in words


def test_the_history_needs_two_scores(phase: Phase, team: Team, scored: Scored, client: Client) -> None:
    scored(phase, 0.5, team=team)
    assert not visit(client).all("figure", id="history")
    scored(phase, 0.4, team=team)
    assert visit(client).all("figure", id="history")


def test_scores_with_another_signature_are_not_in_the_history(
    phase: Phase, team: Team, scored: Scored, client: Client
) -> None:
    scored(phase, 0.5, team=team)
    scored(phase, 0.9, team=team, signature="another|way")
    assert not visit(client).all("figure", id="history")


def test_a_note_is_changed_in_the_list(make: Make, phase: Phase, team: Team, client: Client) -> None:
    submission = make.submission(phase, team)
    response = client.post(f"/submissions/{submission.pk}/edit", {"note": "bigger model"})
    assert response.url == f"{ADDRESS}#s-{submission.pk}"
    assert visit(client).all("input", name="note")[0]["value"] == "bigger model"


def test_changing_a_note_does_not_change_the_final_choice(
    phase: Phase, team: Team, scored: Scored, client: Client
) -> None:
    submission = scored(phase, 0.5, team=team, final=True)
    client.post(f"/submissions/{submission.pk}/edit", {"note": "x"})
    submission.refresh_from_db()
    assert submission.final


def test_the_final_choice_can_be_made_and_undone(phase: Phase, team: Team, scored: Scored, client: Client) -> None:
    submission = scored(phase, 0.5, team=team)
    for wanted in ("true", "false"):
        client.post(f"/submissions/{submission.pk}/edit", {"final": wanted})
        assert visit(client).all("button", role="switch")[0]["aria-checked"] == wanted


def test_one_final_submission_too_many_is_refused_on_the_page(
    phase: Phase, team: Team, scored: Scored, client: Client
) -> None:
    for _ in range(phase.finals):
        scored(phase, 0.5, team=team, final=True)
    page = Page(client.post(f"/submissions/{scored(phase, 0.4, team=team).pk}/edit", {"final": "true"}))
    assert page.status == 422
    assert page.context["refusal"].code == "invalid"
    assert page.context["finals_chosen"] == 2


def test_after_the_end_the_final_choice_cannot_be_changed(
    make: Make, scored: Scored, member: User, client: Client
) -> None:
    phase = make.phase(closes_at=NOW - timedelta(hours=1))
    submission = scored(phase, 0.5, team=make.team(phase.challenge, member))
    page = Page(client.post(f"/submissions/{submission.pk}/edit", {"final": "true"}))
    assert page.status == 409
    assert "phase_closed" in page.words


def test_a_page_lists_25_submissions(make: Make, phase: Phase, team: Team, client: Client) -> None:
    for _ in range(26):
        make.submission(phase, team)
    page = visit(client)
    assert "1–25 of 26" in page.words
    assert "?page=2" in page.links()


def test_a_change_returns_to_the_page_of_the_row(make: Make, phase: Phase, team: Team, client: Client) -> None:
    oldest, *_ = [make.submission(phase, team, received_at=NOW + timedelta(seconds=second)) for second in range(26)]
    response = client.post(f"/submissions/{oldest.pk}/edit", {"note": "x"})
    assert response.url == f"{ADDRESS}?page=2#s-{oldest.pk}"
    assert Page(client.get(response.url)).all("tr", id=f"s-{oldest.pk}")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"status": "scored"}, {"a.csv"}),
        ({"status": "queued"}, {"b.csv", "c.csv"}),
        ({"q": "LARGER"}, {"b.csv"}),
        ({"q": "resnet"}, {"c.csv"}),
        ({"q": "b.c"}, {"b.csv"}),
        ({"q": "%"}, set()),
        ({"status": "scored", "q": "larger"}, set()),
        ({"status": "unknown", "q": " "}, {"a.csv", "b.csv", "c.csv"}),
    ],
)
def test_the_list_is_filtered_by_status_and_text(
    query: dict[str, str], found: set[str], make: Make, scored: Scored, phase: Phase, team: Team, client: Client
) -> None:
    scored(phase, 0.5, team=team, file_name="a.csv")
    make.submission(phase, team, file_name="b.csv", note="a larger model")
    make.submission(phase, team, file_name="c.csv", method="ResNet-50")
    page = Page(client.get(ADDRESS, query))
    assert {row.submission.file_name for row in page.context["listed"]} == found
    assert bool(found) or "No submission matches this filter." in page.words


def test_a_filter_stays_in_the_links_to_further_pages(make: Make, phase: Phase, team: Team, client: Client) -> None:
    for _ in range(26):
        make.submission(phase, team, note="a b")
    assert "?q=a+b&page=2" in Page(client.get(ADDRESS, {"q": "a b"})).links()


@pytest.mark.parametrize(("finals", "is_said"), [(2, False), (1, True)])
def test_the_page_states_which_final_submissions_count_if_too_many_are_chosen(
    scored: Scored, phase: Phase, team: Team, client: Client, finals: int, is_said: bool
) -> None:
    for _ in range(2):
        scored(phase, 0.5, team=team, final=True)
    Phase.objects.update(finals=finals)
    words = visit(client).words
    assert f"2 of {finals} final submissions chosen" in words
    assert ("chosen; those with the best public scores count" in words) == is_said


class TestHint:
    """Tests the hint that a team's best submission is not among its final submissions."""

    def test_the_hint_appears_if_other_submissions_are_final(
        self, scored: Scored, phase: Phase, team: Team, client: Client
    ) -> None:
        best = scored(phase, 0.5, team=team, file_name="best.csv")
        scored(phase, 0.4, team=team, final=True)
        page = visit(client)
        assert page.context["better"].file_name == "best.csv"
        assert "is not among your final submissions. Choose it" in page.words
        assert page.all("button", formaction=f"/submissions/{best.pk}/edit", class_="link-button")

    @pytest.mark.parametrize("finals", [(False, False), (True, False), (True, True)])
    def test_the_hint_does_not_appear_if_the_best_or_none_is_final(
        self, finals: tuple[bool, bool], scored: Scored, phase: Phase, team: Team, client: Client
    ) -> None:
        for value, final in zip((0.5, 0.4), finals, strict=True):
            scored(phase, value, team=team, final=final)
        assert "with your best public score" not in visit(client).words

    @pytest.mark.phase(challenge={"slug": "c"}, feedback="ladder")
    def test_ladder_feedback_shows_no_hint(self, scored: Scored, phase: Phase, team: Team, client: Client) -> None:
        scored(phase, 0.5, team=team)
        scored(phase, 0.4, team=team, final=True)
        assert "with your best public score" not in visit(client).words


class TestChart:
    """Tests the chart of a team's scores."""

    def test_each_score_is_a_link_that_names_its_values(
        self, scored: Scored, phase: Phase, team: Team, client: Client
    ) -> None:
        first = scored(phase, 0.25, team=team, file_name="<b>.csv", interval=(0.2, 0.3))
        scored(phase, 0.5, team=team)
        chart = visit(client).context["chart"]
        assert f'href="/submissions/{first.pk}/"' in chart.targets
        assert "0.25000 (95%: 0.2 to 0.3), &lt;b&gt;.csv" in chart.targets
        assert chart.targets.count("<a ") == 2
        assert chart.intervals.count("M") == 1

    def test_rescorings_are_marked_after_the_scores_that_they_changed(
        self, scored: Scored, phase: Phase, team: Team, client: Client
    ) -> None:
        for value, hours in ((0.25, 3), (0.5, 1)):
            scored(phase, value, team=team, received_at=NOW - timedelta(hours=hours))
        for hours in (4, 2):
            applied = NOW - timedelta(hours=hours)
            Rescoring.objects.create(
                phase=phase, truth=phase.truths.get(), signature="s", started_at=applied, applied_at=applied
            )
        (mark,) = visit(client).context["chart"].rescored
        assert mark[0] == 500.0

    def test_the_chart_shows_the_last_hundred_scores(self, phase: Phase) -> None:
        one = OwnScore(uuid4(), "a.csv", NOW, False, 0.5, None)
        access = ScoreAccess(frozenset({"public"}), None, True)
        chart = score_chart([one] * 103, phase=phase, access=access, address="/{}")
        assert chart is not None
        assert (chart.left_out, chart.targets.count("<a ")) == (3, 100)


def test_a_running_submission_is_cancelled_in_the_list(make: Make, phase: Phase, team: Team, client: Client) -> None:
    submission = make.submission(phase, team)
    (button,) = (one for one in visit(client).all("button") if one.get("formaction", "").endswith("/cancel"))
    response = client.post(button["formaction"], {"next": f"{ADDRESS}?status=queued"})
    submission.refresh_from_db()
    assert (response.url, submission.status) == (f"{ADDRESS}?status=queued", "cancelled")


def test_cancelling_does_not_redirect_to_other_sites(make: Make, phase: Phase, team: Team, client: Client) -> None:
    submission = make.submission(phase, team)
    response = client.post(f"/submissions/{submission.pk}/cancel", {"next": "//evil.example"})
    assert response.url == f"/submissions/{submission.pk}/"


GIVEN = {"method": "ResNet  50", "paper_url": "https://example.org/p?a=1&b=2", "code_url": ""}


class TestMethod:
    """Tests the description of a submission's method, and the links to its paper and its code."""

    def test_a_method_is_entered_on_the_page_of_the_submission(
        self, make: Make, phase: Phase, team: Team, client: Client
    ) -> None:
        submission = make.submission(phase, team, code_url="https://example.org/old")
        assert client.post(f"/submissions/{submission.pk}/edit", GIVEN).url == f"/submissions/{submission.pk}/"
        page = visit(client)
        (link,) = page.all("a", rel="nofollow noopener")
        assert link["href"] == GIVEN["paper_url"]
        assert "ResNet 50" in page.words

    @pytest.mark.parametrize(
        "url",
        [
            "javascript:alert(1)",
            "data:text/html,x",
            "//example.org",
            "example.org",
            "https://",
            "https://a b",
            "ftp://a",
        ],
    )
    def test_other_links_are_refused(self, url: str, make: Make, phase: Phase, team: Team, client: Client) -> None:
        submission = make.submission(phase, team, paper_url="https://example.org/")
        page = Page(client.post(f"/submissions/{submission.pk}/edit", {"paper_url": url}))
        submission.refresh_from_db()
        assert (page.status, submission.paper_url) == (422, "https://example.org/")
        assert "https:// or http://" in page.words

    def test_a_refused_link_changes_neither_note_nor_method(
        self, make: Make, phase: Phase, team: Team, client: Client
    ) -> None:
        submission = make.submission(phase, team, note="old", method="old")
        given = {"note": "new", "method": "new", "paper_url": "javascript:x"}
        assert client.post(f"/submissions/{submission.pk}/edit", given).status_code == 422
        submission.refresh_from_db()
        assert (submission.note, submission.method) == ("old", "old")
