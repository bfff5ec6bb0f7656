"""Hidden characters and direction marks are escaped on every page."""

import gzip
from datetime import UTC, datetime

import pytest
from django.test import Client

from evaluator.hidden import reveal
from server.challenges.models import Challenge, Phase
from tests.conftest import Make
from tests.server.conftest import Scored

HIDDEN = "\u202e\u2066\u200b\u200f\ufeff\x1b\x07\u00ad\u2028\U000e0041\ufe0f\U000e0100\u2800\U0001d159"


@pytest.mark.parametrize("sign", HIDDEN)
def test_a_hidden_character_is_escaped(sign: str) -> None:
    assert reveal(f"a{sign}b") == f"a{sign.encode('unicode_escape').decode()}b"


@pytest.mark.parametrize("text", ["a\tb\r\nc", "café 猫", "שלום", "e\u0301", "10\u00a0%", "\u26a0\ufe0f"])
def test_visible_characters_do_not_change(text: str) -> None:
    assert reveal(text) == text


def test_hidden_characters_in_defects_are_escaped(make: Make, client: Client) -> None:
    error = {
        "code": "unknown_image",
        "message": "\u202egnp is unknown",
        "line": 2,
        "column": "a\u200bb",
        "image": "\u2066x\ufe0f",
    }
    problems = {"errors": [error], "total": 1, "counts": {"unknown_image": 1}, "notices": []}
    ended = {"status": "rejected", "finished_at": datetime.now(UTC), "fault": "participant"}
    submission = make.submission(make.phase(), problems=problems, file_name="\u202efdp\u180b.csv", **ended)
    client.force_login(submission.user)
    page = client.get(f"/submissions/{submission.pk}/").content.decode()
    assert "\\u202egnp is unknown" in page
    assert "\\u202efdp\\u180b.csv" in page
    assert not set(HIDDEN) & set(page)


@pytest.mark.phase(challenge={"slug": "c"})
def test_hidden_characters_in_a_cached_page_are_escaped(
    phase: Phase, make: Make, scored: Scored, client: Client
) -> None:
    Challenge.objects.update(title="Owls\u202e")
    scored(phase, 0.5)
    for encoding in ("gzip", ""):
        page = client.get("/challenges/c/leaderboard", headers={"Accept-Encoding": encoding}).content
        assert b"Owls\\u202e" in (gzip.decompress(page) if encoding else page)


def test_hidden_characters_in_texts_of_organizers_are_escaped(make: Make, client: Client) -> None:
    make.challenge(slug="c", title="Owls\u202e", description="Read \u2066this\u2069.")
    page = client.get("/challenges/c/").content.decode()
    assert "Owls\\u202e" in page
    assert "Read \\u2066this\\u2069." in page
    assert not set(HIDDEN) & set(client.get("/").content.decode())
