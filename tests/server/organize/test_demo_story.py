from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from evaluator.catalog import TRACKS
from server.organize.demo import folders, people, uploads
from server.organize.demo.story import PEOPLE, ROLES, STORIES, Story
from server.organize.services import bundles
from tests.server.pages.edits import save


@pytest.fixture
def made(settings: Settings, tmp_path: Path) -> Callable[[Story], Path]:
    settings.PODIUM_HOME = tmp_path

    def make(story: Story) -> Path:
        folders.make(story)
        return folders.bundle_folder(story)

    return make


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_demo_folder_is_a_bundle(made: Callable[[Story], Path], story: Story) -> None:
    bundle = bundles.read(made(story))
    assert bundle.slug == story.slug
    assert bundle.phases[0].track in TRACKS
    assert all((bundle.description, bundle.rules, bundle.data, bundle.summary, bundle.closes_at))
    assert "$" not in bundle.description + bundle.rules + bundle.data


def test_an_existing_demo_folder_does_not_change(made: Callable[[Story], Path]) -> None:
    sheet = made(STORIES[1]) / "challenge.yaml"
    sheet.write_text("changed by an organizer")
    made(STORIES[1])
    assert sheet.read_text() == "changed by an organizer"


def test_an_incomplete_demo_folder_is_created_again(made: Callable[[Story], Path], tmp_path: Path) -> None:
    (tmp_path / "demo" / ".unfinished" / STORIES[1].slug / "truth").mkdir(parents=True)
    folders.submissions_folder(STORIES[1]).mkdir(parents=True)
    assert (made(STORIES[1]) / "challenge.yaml").is_file()
    assert not (tmp_path / "demo" / ".unfinished").exists()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_every_file_that_a_demo_team_submits_exists(made: Callable[[Story], Path], story: Story) -> None:
    made(story)
    assert all(path.is_file() for _, _, path, _ in uploads.rounds(story))


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_at_least_five_demo_teams_submit_files_of_increasing_quality(story: Story) -> None:
    assert len(story.entrants) >= 5
    assert all(len(entrant.qualities) >= 2 for entrant in story.entrants)
    assert all(min(entrant.qualities) == entrant.qualities[0] for entrant in story.entrants)


def test_the_demo_participant_and_the_team_mate_are_in_one_team(made: Callable[[Story], Path]) -> None:
    shared = [entrant for story in STORIES for entrant in story.entrants if set(entrant.members) & set(PEOPLE)]
    assert [entrant.members for entrant in shared] == [("participant", "teammate")]


@pytest.mark.usefixtures("db", "quick_podium", "inline_queue")
def test_a_second_demo_keeps_what_was_edited_on_the_site(made: Callable[[Story], Path], client: Client) -> None:
    (first, _), said = uploads.open_challenges(lambda _: None), list[str]()
    client.force_login(people.accounts()["organizer"])
    assert save(client, first, title="My own title").status_code == 302
    assert uploads.open_challenges(said.append)[0] == first
    assert "left unchanged, because it was edited on the site" in " ".join(said)
    first.refresh_from_db()
    assert first.title == "My own title"


def test_the_demo_names_what_to_try_for_each_account() -> None:
    names = [name for name, text, path in ROLES if text and path.startswith("/")]
    assert set(PEOPLE) < set(names)
