"""Only organizers and staff can import bundles through the API and the import page.

Nobody can change a challenge that belongs to somebody else.
"""

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from server.challenges.models import Challenge, Phase
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.organize.conftest import BundleFolder
from tests.server.page import Page

pytestmark = pytest.mark.usefixtures("quick_podium", "inline_queue")


@pytest.fixture
def content(bundle: BundleFolder, tmp_path: Path) -> bytes:
    return bundle.zipped(tmp_path / "bundle.zip").read_bytes()


def test_staff_import_a_challenge_and_become_its_organizers(api: Api, make: Make, content: bytes) -> None:
    staff = make.user(is_staff=True)
    told = api.upload("challenges", file=content, user=staff, scope="organize")
    assert (told.status_code, told.json()["slug"]) == (201, "animals")
    assert "challenge animals: created" in told.json()["messages"]
    assert list(Challenge.objects.get().organizers.all()) == [staff]


def test_a_person_who_organizes_nothing_cannot_import(api: Api, make: Make, content: bytes) -> None:
    told = api.upload("challenges", file=content, user=make.user(), scope="organize")
    assert (told.status_code, told.json()["code"]) == (403, "forbidden")
    assert not Challenge.objects.exists()


def test_an_organizer_cannot_import_with_a_token_for_submissions(api: Api, make: Make, content: bytes) -> None:
    told = api.upload("challenges", file=content, user=make.user(is_staff=True), scope="submit")
    assert told.status_code == 403


@pytest.mark.phase(challenge={"slug": "animals", "visibility": "private", "title": "Hidden"}, slug="main")
def test_using_the_slug_of_another_organizers_challenge_is_the_only_mistake_reported(
    api: Api, make: Make, phase: Phase, bundle: BundleFolder, tmp_path: Path
) -> None:
    make.challenge(slug="own").organizers.add(person := make.user())
    bundle.write("phases/main/truth/salt.txt", f"{'0' * 32}\n")
    bundle.sheet(challenge="visibility: publik\n")
    file = bundle.zipped(tmp_path / "b.zip").read_bytes()
    told = api.upload("challenges", file=file, user=person, scope="organize").json()
    assert [one["code"] for one in told["faults"]] == ["slug_taken"]
    assert told["warnings"] == []
    assert Challenge.objects.get(slug="animals").title == "Hidden"


def test_the_page_imports_a_challenge_and_lists_warnings(make: Make, client: Client, content: bytes) -> None:
    client.force_login(make.user(is_staff=True))
    page = Page(client.post("/organize/import", {"file": SimpleUploadedFile("b.zip", content)}))
    assert page.status == 200
    assert "challenge animals: created" in page.words
    assert "no_contact" in page.words
    assert "/challenges/animals/" in page.links()


def test_the_page_lists_mistakes_with_file_line_and_key(
    make: Make, client: Client, bundle: BundleFolder, tmp_path: Path
) -> None:
    bundle.sheet(challenge="visibility: publik\n")
    file = SimpleUploadedFile("b.zip", bundle.zipped(tmp_path / "b.zip").read_bytes())
    client.force_login(make.user(is_staff=True))
    page = Page(client.post("/organize/import", {"file": file}))
    assert page.status == 422
    assert "Errors File Line Key or column Problem challenge.yaml 3 visibility 'publik' is not one of" in page.words
    assert not Challenge.objects.exists()


def test_a_file_that_is_not_a_zip_is_named_as_it_was_uploaded(make: Make, client: Client) -> None:
    client.force_login(make.user(is_staff=True))
    page = Page(client.post("/organize/import", {"file": SimpleUploadedFile("animals.zip", b"x")}))
    assert (page.status, "animals.zip" in page.words, "bad_zip" in page.words) == (422, True, True)
