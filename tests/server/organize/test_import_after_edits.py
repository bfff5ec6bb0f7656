"""Importing an older bundle by command, API or page does not silently undo edits that were made on the site."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from evaluator.bundle import InvalidBundle
from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Challenge, Phase
from server.organize.services.consent import Consent
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.organize.conftest import BundleFolder
from tests.server.pages.edits import save

pytestmark = pytest.mark.usefixtures("make", "quick_podium", "inline_queue")
Import = Callable[..., list[str]]

# Each test case: the model of the edited row, the edited fields, and a part of the expected error message.
EDITS: list[tuple[type[Any], dict[str, Any], str]] = [
    (Challenge, {"title": "Dogs"}, "challenge animals: title was edited on the server; this import would change it"),
    (
        Challenge,
        {"rules": "# Fair"},
        "rules was edited on the server; this import would change it from # Fair to nothing",
    ),
    (Challenge, {"contact": "a@example.org"}, "contact was edited"),
    (Challenge, {"join_until": "2099-01-01T00:00"}, "from 2099-01-01T00:00:00Z to nothing"),
    (
        Phase,
        {"quota_per_day": 7},
        "phase main: quota_per_day was edited on the server; this import would change it from 7 to 5",
    ),
    (Phase, {"finals": 3}, "from 3 to 2"),
    (Phase, {"feedback": "rounded", "feedback_decimals": 3}, "feedback was edited"),
]


@pytest.fixture
def owner(make: Make, bundle: BundleFolder, run: Import, client: Client) -> User:
    """Import the bundle as a user, log the user in, and return the user."""
    user = make.user(username="olga")
    run(by=user)
    client.force_login(user)
    return user


@pytest.mark.parametrize(("model", "edit", "said"), EDITS)
def test_an_import_lists_each_edit_that_it_would_undo(
    owner: User, run: Import, client: Client, model: type[Any], edit: dict[str, Any], said: str
) -> None:
    assert save(client, model.objects.get(), **edit).status_code == 302
    edited = model.objects.values().get()
    with pytest.raises(InvalidBundle) as refusal:
        run(by=owner)
    found = [one for one in refusal.value.problems if one.code == "would_undo_edit"]
    assert len(found) == len(edit)
    assert any(said in one.message for one in found)
    assert model.objects.values().get() == edited


@pytest.mark.parametrize(("model", "edit", "said"), EDITS)
def test_with_force_the_edit_is_undone(
    owner: User, run: Import, client: Client, model: type[Any], edit: dict[str, Any], said: str
) -> None:
    before = model.objects.values().get()
    save(client, model.objects.get(), **edit)
    run(by=owner, consent=Consent(force=True, reveal=True))
    assert model.objects.values().get() == before
    run(by=owner)  # The first import has undone the edit, so the second import needs no consent.


def test_an_edit_that_the_bundle_repeats_needs_no_force(
    owner: User, bundle: BundleFolder, run: Import, client: Client
) -> None:
    save(client, Challenge.objects.get(), title="Dogs")
    bundle.sheet(text=(bundle.path / "challenge.yaml").read_text().replace("Animals", "Dogs"))
    run(by=owner)
    assert Challenge.objects.get().title == "Dogs"


def test_an_edit_that_the_bundle_has_repeated_does_not_prevent_later_imports(
    owner: User, bundle: BundleFolder, run: Import, client: Client
) -> None:
    save(client, Challenge.objects.get(), title="Dogs")
    sheet = (bundle.path / "challenge.yaml").read_text()
    bundle.sheet(text=sheet.replace("Animals", "Dogs"))
    assert run(by=owner) == run(by=owner) == ["nothing changed"]
    # One entry for the first import, and one for the first import that repeats the edit.
    assert Entry.objects.filter(action="challenge.imported").count() == 2
    bundle.sheet(text=sheet.replace("Animals", "Owls"))
    assert run(by=owner) == ["challenge animals: title changed"]


def test_command_page_and_api_refuse_the_older_bundle_without_force(
    owner: User, bundle: BundleFolder, client: Client, api: Api, tmp_path: Path
) -> None:
    save(client, Challenge.objects.get(), title="Dogs")
    packed = bundle.zipped(tmp_path / "b.zip")
    told = StringIO()
    with pytest.raises(CommandError):
        call_command("import_challenge", str(bundle.path), stderr=told)
    assert "would_undo_edit" in told.getvalue()
    with packed.open("rb") as file:
        page = client.post("/organize/import", {"file": file})
    assert [one.code for one in page.context["mistakes"]] == ["would_undo_edit"]
    with packed.open("rb") as file:
        answer = api.upload("challenges", file=file.read(), name="b.zip", user=owner, scope="organize")
    assert (answer.status_code, [one["code"] for one in answer.json()["faults"]]) == (422, ["would_undo_edit"])
    assert Challenge.objects.get().title == "Dogs"
    with packed.open("rb") as file:
        assert client.post("/organize/import", {"file": file, "force": "on"}).status_code == 200
    assert Challenge.objects.get().title == "Animals"


@pytest.mark.parametrize(
    ("reveal", "role", "status"), [(True, "owner", 200), (True, "editor", 403), (False, "editor", 200)]
)
def test_only_owners_import_with_the_reveal_option(
    owner: User, bundle: BundleFolder, client: Client, tmp_path: Path, reveal: bool, role: str, status: int
) -> None:
    Challenge.objects.get().organizer_roles.update(role=role)
    with bundle.zipped(tmp_path / "b.zip").open("rb") as file:
        answer = client.post("/organize/import", {"file": file} | ({"reveal": "on"} if reveal else {}))
    assert answer.status_code == status


def test_viewers_do_not_import_their_challenge(
    owner: User, make: Make, bundle: BundleFolder, client: Client, tmp_path: Path
) -> None:
    Challenge.objects.get().organizer_roles.update(role="viewer")
    make.challenge(slug="own").organizers.add(owner)
    with bundle.zipped(tmp_path / "b.zip").open("rb") as file:
        assert client.post("/organize/import", {"file": file}).status_code == 403
