"""Text that turns other text around, or that nobody sees, is shown on every page as what it is."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from server.pages.visible import visible

HIDDEN = "\u202e\u2066\u200b\u200f\ufeff\x1b\x07\u00ad\u2028\U000e0041"


@pytest.mark.parametrize("sign", HIDDEN)
def test_a_hidden_character_is_spelled_out(sign: str) -> None:
    assert visible(f"a{sign}b") == f"a{sign.encode('unicode_escape').decode()}b"


@pytest.mark.parametrize("text", ["a\tb\r\nc", "café 猫", "שלום", "e\u0301", "10\u00a0%"])
def test_what_is_seen_stays(text: str) -> None:
    assert visible(text) == text


def test_defects_of_a_file_are_shown_so(make: Any, client: Client) -> None:
    error = {
        "code": "unknown_image",
        "message": "\u202egnp is unknown",
        "line": 2,
        "column": "a\u200bb",
        "image": "\u2066x",
    }
    problems = {"errors": [error], "total": 1, "counts": {"unknown_image": 1}, "notices": []}
    ended = {"status": "rejected", "finished_at": datetime.now(UTC), "fault": "participant"}
    submission = make.submission(make.phase(), problems=problems, file_name="\u202efdp.csv", **ended)
    client.force_login(submission.user)
    page = client.get(f"/submissions/{submission.pk}/").content.decode()
    assert "\\u202egnp is unknown" in page
    assert "\\u202efdp.csv" in page
    assert not set(HIDDEN) & set(page)


def test_an_organizers_text_is_shown_so(make: Any, client: Client) -> None:
    make.challenge(slug="c", title="Owls\u202e", description="Read \u2066this\u2069.")
    page = client.get("/challenges/c/").content.decode()
    assert "Owls\\u202e" in page
    assert "Read \\u2066this\\u2069." in page
    assert not set(HIDDEN) & set(client.get("/").content.decode())
