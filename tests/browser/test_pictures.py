"""Takes screenshots of pages for visual inspection, if PODIUM_PICTURES is set to a folder."""

import os
import re
import struct
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from server.accounts.models import User
from server.challenges.models import Phase
from server.submissions.models import Replicates
from tests.browser.conftest import Open
from tests.browser.every_page import LONG, RIGHT_TO_LEFT, Reader
from tests.conftest import Make, compare_boards
from tests.server.conftest import Scored

FOLDER = os.environ.get("PODIUM_PICTURES", "")
NOW, DAY = datetime.now(UTC), timedelta(days=1)
DRAWS, WIDTH, SEED = 200, 0.01, 20261121
WIDTHS = (390, 768, 1440)
METRICS = ("top5", "mean_class_top1", "mean_class_top5")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.enable_socket,
    pytest.mark.skipif(not FOLDER, reason="only with PODIUM_PICTURES=FOLDER"),
]


@pytest.fixture
def crowd(transactional_db: Any, make: Make, scored: Scored, member: User, request: pytest.FixtureRequest) -> int:
    """Create the given number of teams. Some have improved during the last week, and the last team has a score of 0."""
    rows: int = request.param
    random = Random(SEED)
    phase = make.phase(make.challenge(slug="c", title="Objects", opens_at=NOW - 60 * DAY), track="objectnet")
    for number in range(rows):
        name = {1: RIGHT_TO_LEFT, 2: f"{LONG}{LONG}"[:80], 3: "The team with several words in its name " * 2}
        own = (member,) if number == min(rows - 2, 120) else ()
        team = make.team(phase.challenge, *own, name=name.get(number, f"Team {number}")[:80].strip())
        score = 0.0 if number == rows - 1 else 0.9 - 0.6 * number / rows + random.gauss(0, 0.01)
        for at, value in ((NOW - 20 * DAY, 0.97 * score), (NOW - 2 * DAY, score)):
            if at < NOW - 9 * DAY or random.random() < 0.5:
                write(scored, phase, value, random, team=team, at=at)
    compare_boards()
    return rows


def write(scored: Scored, phase: Phase, value: float, random: Random, **fields: Any) -> None:
    interval = (max(0.0, value - WIDTH), value + WIDTH) if value else (0.0, 0.0)
    others = {"top1": value, **dict.fromkeys(METRICS, value / 2)}
    submission = scored(phase, value, interval=interval, splits={"public": others, "all": others}, **fields)
    draws = [value + random.gauss(0, WIDTH / 2) for _ in range(DRAWS)] if value else [0.0] * DRAWS
    vector = {"split": "public", "seed": 0, "count": DRAWS, "values": struct.pack(f"<{DRAWS}d", *draws)}
    Replicates.objects.create(evaluation=submission.evaluations.get(), **vector)


@pytest.mark.parametrize("crowd", [3, 8, 300], indirect=True)
def test_screenshots_of_leaderboards_are_taken(crowd: int, member: User, visit: Open) -> None:
    for scheme in ("light", "dark"):
        for width in (390, 768, 1440):
            page = visit(member, width=width, color_scheme=scheme).new_page()
            page.goto("/challenges/c/leaderboard")
            page.screenshot(path=Path(FOLDER) / f"board-{crowd}-{width}-{scheme}.png", full_page=crowd < 300)
            if crowd == 300 and scheme == "light":
                page.goto("/challenges/c/leaderboard?page=2&sort=top5")
                page.mouse.wheel(0, 2000)
                page.wait_for_timeout(300)
                page.screenshot(path=Path(FOLDER) / f"board-sorted-{width}.png")


@pytest.mark.parametrize("events", [3, 200])
def test_screenshots_of_history_charts_are_taken(
    events: int, transactional_db: Any, make: Make, scored: Scored, visit: Open
) -> None:
    random = Random(SEED)
    phase = make.phase(make.challenge(slug="c", title="Objects", opens_at=NOW - 60 * DAY))
    teams = [make.team(phase.challenge, name=f"Team {number}") for number in range(min(events, 12))]
    for number in range(events):
        score = 0.3 + 0.5 * number / events + random.gauss(0, 0.05)
        scored(phase, score, team=random.choice(teams), at=NOW - 50 * DAY + 49 * DAY * number / events)
    for scheme in ("light", "dark"):
        for width in (390, 1440):
            page = visit(width=width, color_scheme=scheme).new_page()
            for chart in ("score", "rank"):
                page.goto(f"/challenges/c/leaderboard/history?chart={chart}")
                page.screenshot(path=Path(FOLDER) / f"history-{chart}-{events}-{width}-{scheme}.png", full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_screenshot_of_every_page_is_taken(scheme: str, readers: list[Reader], visit: Open) -> None:
    for reader in readers:
        page = visit(reader.client, color_scheme=scheme).new_page()
        for number, address in enumerate(reader.addresses):
            page.goto(address)
            name = re.sub(r"\W+|[0-9a-f-]{36}|a{40,}", "-", f"{reader.name}-{number:02}-{address}").strip("-")[:50]
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                page.screenshot(path=Path(FOLDER) / f"page-{name}-{width}-{scheme}.png", full_page=True)
        page.context.close()
