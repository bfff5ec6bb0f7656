"""On pages, in files and in the API, only organizers see exact endpoints of intervals. Others see rounded endpoints."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from server.challenges.models import Phase, Team
from server.leaderboards.queries import board
from server.pages.submission.comparison import Verdict
from server.submissions.feedback import score_access
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.conftest import Scored, explain
from tests.server.documented import Api, content_of

NOW = datetime.now(UTC)
LOW, HIGH = 0.412345678, 0.587654321  # The published endpoints of this interval are 0.412 and 0.588.
DRAWN = [LOW, 0.5, HIGH]
OTHER = [0.3987654, 0.47123456, 0.53456789]
PRIVATE = 0.4
EXACT = re.compile(rb"0\.4123|0\.5876|0\.3987|0\.5345|0\.0[01]\d{5}")
CURVE = {"label": None, "curve": "ap", "name": "mean of all", "area": 0.5, "truths": 1.0, "confidence": None}


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1), feedback_classes=True)


@pytest.fixture
def entries(phase: Phase, team: Team, make: Make, replicated: Callable[..., Submission]) -> list[Submission]:
    """Create two submissions of the member's team and one of a different team."""
    report = {"splits": {"public": {"classes": [{"label": "/m/1", "name": "Cat", "ap": 0.5, "truths": 1.0}]}}}
    own = [replicated(phase, values, team=team, private=PRIVATE, report=report) for values in (DRAWN, OTHER)]
    for one in own:
        explain(one, {"curves": [{**CURVE, "recall": [0.5], "precision": [0.5]}]})
    return [*own, replicated(phase, OTHER[::-1], team=make.team(phase.challenge, name="Rivals"))]


def everything(client: Client, api: Api, user: Any, entries: list[Submission]) -> Iterator[tuple[str, bytes]]:
    """Request pages, files and API routes that show scores, and yield the URL and the content of each."""
    client.force_login(user)
    a, b = (one.pk for one in entries[:2])
    pages = ["", "submissions", "data", "submit", f"compare?a={a}&b={b}", "leaderboard/compare"]
    pages += [
        f"{name}?split={split}" for name in ("leaderboard", "leaderboard.csv") for split in ("public", "private", "all")
    ]
    addresses = ["/", *(f"/challenges/c/{page}" for page in pages)]
    addresses += [f"/submissions/{a}/{part}" for part in ("", "panel", "report.json", "classes.csv", "curves.csv")]
    yield from ((address, content_of(client.get(address))) for address in addresses)
    of_phase = f"challenges/c/phases/{entries[0].phase.slug}"
    asked = [
        f"{of_phase}/leaderboard?split={split}&format={form}"
        for split in ("public", "private")
        for form in ("json", "csv")
    ]
    asked += [f"{of_phase}/submissions", f"submissions/{a}", f"submissions/{a}/report"]
    yield from ((path, content_of(api.get(path, user=user))) for path in asked)


@pytest.mark.parametrize("is_over", [False, True])
def test_no_participant_sees_exact_interval_ends(
    is_over: bool, entries: list[Submission], team: Team, client: Client, api: Api
) -> None:
    if is_over:
        Phase.objects.update(closes_at=NOW - timedelta(seconds=1))
    user = team.memberships.get().user
    told = list(everything(client, api, user, entries))
    assert [address for address, content in told if EXACT.search(content)] == []
    shown = {address.partition("?")[0].rpartition("/")[2] for address, content in told if b"0.412" in content}
    assert {"leaderboard", "leaderboard.csv", "report.json", "report", "submissions", str(entries[0].pk)} <= shown


def test_no_viewer_sees_exact_interval_ends(entries: list[Submission], client: Client, api: Api) -> None:
    for address in ("/challenges/c/", "/challenges/c/leaderboard", "/challenges/c/leaderboard.csv"):
        content = content_of(client.get(address))
        assert not EXACT.search(content), address
        assert b"0.412" in content, address
    answer = api.get(f"challenges/c/phases/{entries[0].phase.slug}/leaderboard").json()
    assert answer["results"][0]["interval"] == [0.412, 0.588]


def test_organizers_see_exact_interval_ends(entries: list[Submission], make: Make, client: Client, api: Api) -> None:
    organizer = make.user()
    entries[0].phase.challenge.organizers.add(organizer)
    client.force_login(organizer)
    (leader, *_) = api.get(f"challenges/c/phases/{entries[0].phase.slug}/leaderboard", user=organizer).json()["results"]
    assert leader["interval"] == [LOW, HIGH]
    assert b"0.412345678,0.587654321" in content_of(client.get("/challenges/c/leaderboard.csv"))


def test_the_band_on_a_leaderboard_is_drawn_from_published_ends(
    entries: list[Submission], phase: Phase, client: Client
) -> None:
    """If the exact endpoints of an interval change, but the published ones do not, the drawn band must not change."""
    before = client.get("/challenges/c/leaderboard").content
    for one in entries:
        for score in one.evaluations.get().scores.all():
            low, high = score_access(phase, viewer=AnonymousUser(), now=NOW).interval(score.low, score.high) or (0, 0)
            score.low, score.high = (
                low + 0.0001,
                high - 0.0001,
                # The changed endpoints are rounded outward to the same published endpoints as before.
            )
            score.save()
    bands = re.compile(rb'<svg class="interval".*?</svg>', re.DOTALL)
    assert bands.findall(before) == bands.findall(client.get("/challenges/c/leaderboard").content) != []


def test_rounded_feedback_also_rounds_interval_ends_outward(make: Make, scored: Scored) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=1)
    scored(phase, 0.5, interval=(0.48, 0.52))
    (row,) = board(phase, split="public", viewer=AnonymousUser()).rows
    assert (row.score, row.interval) == (0.5, (0.4, 0.6))


def test_a_shown_score_is_within_its_shown_interval(make: Make, scored: Scored) -> None:
    phase = make.phase(feedback="rounded", feedback_decimals=2)
    for score, ends in ((0.1249, (0.1241, 0.1251)), (0.1251, (0.125, 0.1252)), (1.0, (0.987, 1.0))):
        scored(phase, score, interval=ends)
    for row in board(phase, split="public", viewer=AnonymousUser()).rows:
        low, high = row.interval or (1.0, 0.0)
        assert low <= row.score <= high


def test_the_verdict_of_a_comparison_is_based_on_the_shown_interval(
    phase: Phase, team: Team, replicated: Callable[..., Submission], client: Client
) -> None:
    """The exact interval of the difference does not contain 0, but the published one does, so the verdict is a tie."""
    b = replicated(phase, [0.5001, 0.7] * 100, team=team)
    a = replicated(phase, [0.5, 0.5] * 100, team=team)
    client.force_login(team.memberships.get().user)
    answer = client.get(f"/challenges/c/compare?a={a.pk}&b={b.pk}")
    assert [one.verdict for one in answer.context["differences"]] == [Verdict.TIED]
    assert b"0.0001" not in answer.content
