"""The handbook describes the keys of challenge.yaml, and the ground-truth files and parameters of every track.

The JSON Schema of challenge.yaml has a stable URL.
"""

import json

import pytest
from django.test import Client

from evaluator.bundle.schema import challenge_schema
from evaluator.catalog import TRACKS, Track
from server.pages.help.tables import key_rows
from server.pages.views.help import CHAPTERS
from tests.server.page import Page

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_is_open_to_everybody_and_has_no_inline_code(name: str, client: Client) -> None:
    page = Page(client.get(f"/help/{name}"))
    assert (page.status, page.inline) == (200, [])
    assert f"/help/{name}" in page.links()


def test_every_key_is_shown_with_type_default_and_what_it_reveals(client: Client) -> None:
    words = Page(client.get("/help/challenge-yaml")).words
    rows = list(key_rows())
    assert "phases[].quota.per_day" in {row.path for row in rows}
    for row in rows:
        assert all(row.type and row.default and row.meaning for row in rows)
        for text in (row.path, row.type, row.unit, row.default, row.example, row.meaning, row.reveals):
            assert " ".join(text.split()) in words


@pytest.mark.parametrize("track", TRACKS.values(), ids=TRACKS)
def test_every_truth_file_and_parameter_of_a_track_is_shown(track: Track, client: Client) -> None:
    words = Page(client.get("/help/truths")).words
    assert track.name in words
    for named in (*track.truth_files, *track.parameters):
        assert named.name in words


def test_the_schema_is_served_at_a_stable_address(client: Client) -> None:
    answer = client.get("/help/schema/challenge.json")
    assert json.loads(answer.content) == json.loads(json.dumps(challenge_schema()))
    assert answer["Content-Type"].startswith("application/schema+json")


def test_an_unknown_chapter_does_not_exist(client: Client) -> None:
    assert client.get("/help/nothing").status_code == 404
