"""Using forms, organizers create, publish and delete challenges, and add and copy phases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from evaluator.bundle import InvalidBundle
from server.accounts.models import User
from server.audit.models import Entry
from server.challenges.models import Challenge, Phase
from server.organize import podium
from server.organize.services.consent import Consent
from tests.conftest import Make
from tests.server.api.test_organizing import zipped
from tests.server.organize.conftest import BOXES, LABELS, SHEET, BundleFolder, bundle, one_process, quick_podium, run
from tests.server.page import Page
from tests.server.pages.edits import save

__all__ = ["bundle", "one_process", "quick_podium", "run"]  # pytest finds these imported fixtures by name.

TRUTH = {"boxes.csv": BOXES, "image_labels.csv": LABELS}
# With this salt for the random split and a public share of 0.5, image a is public and image b is private.
SPLIT = TRUTH | {"salt.txt": f"{1:032x}\n"}
PHASE = {"slug": "main", "title": "Main", "track": "openimages-detection"}
DRAFT = {"slug": "owls", "title": "Owls", "summary": "", "contact": ""}


@pytest.fixture
def owner(make: Make, client: Client) -> User:
    """Return a logged-in user who already organizes another challenge and may therefore create new ones."""
    user = make.user(username="olga")
    make.challenge(slug="other").organizers.add(user)
    client.force_login(user)
    return user


@pytest.fixture
def draft(owner: User, client: Client) -> Challenge:
    assert client.post("/organize/new", DRAFT).status_code == 302
    return Challenge.objects.get(slug="owls")


@pytest.fixture
def add(
    client: Client, tmp_path: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[..., Any]:
    """Return a function that submits the form of a new phase."""

    def submit(files: dict[str, str] | None = TRUTH, **values: str) -> Any:
        packed = tmp_path / "truth.zip"
        packed.write_bytes(zipped(files or {}))
        with packed.open("rb") as file, django_capture_on_commit_callbacks(execute=True):
            given = {"file": file} if files is not None else {}
            return client.post("/organize/challenges/owls/new-phase", {**PHASE, **values, **given})

    return submit


def publish(client: Client, visibility: str = "public") -> int:
    return int(client.post("/organize/challenges/owls/publish", {"visibility": visibility}).status_code)


def named(response: Any) -> set[str]:
    """Check that a form was rejected. Return the names of the fields (or of the ground truth's columns) with errors."""
    assert response.status_code == 422
    return {*response.context["form"].errors} or {one.column or one.file for one in response.context["mistakes"]}


def test_a_new_challenge_is_a_draft_that_only_its_organizers_see(draft: Challenge, make: Make, client: Client) -> None:
    assert (draft.visibility, draft.organizer_roles.get().role) == ("draft", "owner")
    assert client.get("/challenges/owls/").status_code == 200
    for person in (None, make.user()):
        other = Client()
        if person is not None:
            other.force_login(person)
        assert other.get("/challenges/owls/").status_code == 404
        assert b"Owls" not in other.get("/").content
    assert Entry.objects.get(action="challenge.added").detail["slug"] == "owls"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"slug": "Owls!"}, "slug"),
        ({"slug": ""}, "slug"),
        ({"title": ""}, "title"),
        ({"contact": "x" * 201}, "contact"),
    ],
)
def test_an_invalid_challenge_is_not_created(owner: User, client: Client, values: dict[str, str], field: str) -> None:
    assert named(client.post("/organize/new", DRAFT | values)) == {field}
    assert not Challenge.objects.filter(title="Owls").exists()


def test_a_short_name_is_used_once(draft: Challenge, client: Client) -> None:
    assert client.post("/organize/new", DRAFT).status_code == 422


@pytest.mark.parametrize("page", ["", "/edit", "/new-phase", "/delete"])
def test_every_page_of_a_challenge_without_phases_is_shown(draft: Challenge, client: Client, page: str) -> None:
    assert client.get(f"/organize/challenges/owls{page}").status_code == 200


@pytest.mark.usefixtures("one_process")
def test_a_phase_is_added_with_its_truth_its_salt_and_a_green_gate(draft: Challenge, add: Callable[..., Any]) -> None:
    dates = {"opens_at": "2099-01-01T00:00", "closes_at": "2099-02-01T00:00"}
    answer = add(SPLIT, public="0.5", parameters="group_of_weight: 0.5", **dates)
    assert answer["Location"] == "/organize/challenges/owls/phases/main/truths/1"
    phase = Phase.objects.get()
    assert (phase.title, phase.public_share, phase.parameters["group_of_weight"]) == ("Main", 0.5, 0.5)
    assert (phase.salt, bool(phase.sample_submission), f"{phase.opens_at:%Y}") == (SPLIT["salt.txt"], True, "2099")
    assert phase.truth is not None
    assert phase.truth.gate is not None
    assert phase.truth.gate["green"]
    assert Entry.objects.filter(action="phase.added", subject=f"phase {phase.pk}").exists()


@pytest.mark.usefixtures("quick_podium")
@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"slug": "../x"}, "slug"),
        ({"track": "chess"}, "track"),
        ({"track": ""}, "track"),
        ({"public": "2"}, "public"),
        ({"parameters": "group_of_weight"}, "parameters"),
        ({"parameters": "{group_of_weight: [}"}, "parameters"),
        ({"parameters": "group_of_weight: -1"}, "parameters.group_of_weight"),
        ({"parameters": "weight: 1"}, "parameters.weight"),
        ({"closes_at": "2001-01-01T00:00"}, "closes_at"),
    ],
)
def test_an_invalid_phase_is_refused_by_the_name_of_the_field(
    draft: Challenge, add: Callable[..., Any], values: dict[str, str], field: str
) -> None:
    assert field in named(add(**values))
    assert not Phase.objects.exists()


@pytest.mark.usefixtures("one_process")
def test_the_faults_of_a_truth_are_listed(draft: Challenge, add: Callable[..., Any]) -> None:
    assert named(add(None)) == {"file"}
    assert named(add({"boxes.csv": BOXES})) == {"phases/main/truth/image_labels.csv"}
    answer = add(TRUTH | {"boxes.csv": BOXES.replace("0.5", "x")})
    assert {one.code for one in answer.context["mistakes"]} == {"truth_bad_value"}
    assert not Phase.objects.exists()


@pytest.mark.usefixtures("one_process")
def test_a_copy_has_the_settings_the_truth_and_the_split_of_the_phase(
    draft: Challenge, add: Callable[..., Any], client: Client
) -> None:
    add(SPLIT, public="0.5", parameters="group_of_weight: 0.5")
    Phase.objects.update(quota_per_day=7, finals=3)
    page = "/organize/challenges/owls/phases/main/clone"
    assert client.get(page).status_code == 200
    assert client.post(page, {"slug": "main"}).status_code == 422
    assert client.post(page, {"slug": "second", "title": "Second"}).status_code == 302
    one, two = Phase.objects.order_by("position")
    assert one.truth is not None
    assert two.truth is not None
    assert one.truth.sha256 == two.truth.sha256
    same = ("salt", "public_share", "parameters", "track", "quota_per_day", "finals", "feedback", "signature")
    assert [getattr(one, name) for name in same] == [getattr(two, name) for name in same]
    assert (two.slug, two.title, two.position) == ("second", "Second", 1)
    assert two.truth.gate is not None
    assert two.truth.gate["green"]


@pytest.mark.usefixtures("quick_podium")
def test_the_warnings_about_a_new_phase_and_about_a_copy_are_shown_once(
    draft: Challenge, add: Callable[..., Any], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = podium.answer
    doubtful = {"warnings": [{"code": "doubtful", "message": "is odd", "line": 3}], "warning_counts": {"doubtful": 1}}
    monkeypatch.setattr(podium, "answer", lambda *words: quick(*words) | doubtful)
    invalid = add(closes_at="2001-01-01T00:00")
    assert (invalid.status_code, "doubtful" in Page(invalid).words) == (422, True)
    copy = ("/organize/challenges/owls/phases/main/clone", {"slug": "second", "title": "Second"})
    for create in (add, lambda: client.post(*copy)):
        page = create()["Location"]
        assert "is odd doubtful" in Page(client.get(page)).words
        assert "doubtful" not in Page(client.get(page)).words


@pytest.mark.usefixtures("quick_podium")
def test_a_phase_whose_truth_has_no_salt_gets_a_random_one(draft: Challenge, add: Callable[..., Any]) -> None:
    add()
    add(slug="second")
    assert len({phase.salt for phase in Phase.objects.all()} - {""}) == 2


@pytest.mark.usefixtures("quick_podium")
def test_a_draft_is_published_with_a_contact_and_a_phase(
    draft: Challenge, add: Callable[..., Any], client: Client
) -> None:
    assert publish(client) == 422
    Challenge.objects.filter(slug="owls").update(contact="a@example.org")
    assert publish(client) == 422
    assert add().status_code == 302
    assert publish(client, "draft") == 422
    assert publish(client, "public") == 302
    assert Client().get("/challenges/owls/").status_code == 200
    assert publish(client) == 422  # A challenge cannot be published twice.


@pytest.mark.usefixtures("quick_podium")
def test_only_a_challenge_that_nobody_has_joined_becomes_a_draft_or_is_deleted(
    draft: Challenge, add: Callable[..., Any], client: Client, make: Make
) -> None:
    add()
    Challenge.objects.filter(slug="owls").update(contact="a@example.org")
    publish(client)
    team = make.team(draft, make.user())
    assert publish(client, "draft") == 409
    assert client.post("/organize/challenges/owls/delete", {"confirm": "owls"}).status_code == 409
    team.delete()
    assert publish(client, "draft") == 302


@pytest.mark.usefixtures("quick_podium")
def test_a_challenge_is_deleted_with_its_files_after_its_name_is_typed(
    draft: Challenge,
    add: Callable[..., Any],
    client: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    add()
    truth = Phase.objects.get().truth
    assert truth is not None
    paths = [Path(truth.prepared.path), Path(truth.source.path)]
    assert client.post("/organize/challenges/owls/delete", {"confirm": "owl"}).status_code == 422
    assert all(path.exists() for path in paths)
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post("/organize/challenges/owls/delete", {"confirm": "owls"}).status_code == 302
    assert not Challenge.objects.filter(slug="owls").exists()
    assert not any(path.exists() for path in paths)
    assert Entry.objects.get(action="challenge.deleted").detail == {"slug": "owls"}


def test_whoever_deletes_their_only_challenge_is_warned_and_then_sees_the_home_page(
    draft: Challenge, client: Client
) -> None:
    Challenge.objects.get(slug="other").delete()
    assert "the only challenge that you can edit" in Page(client.get("/organize/challenges/owls/delete")).words
    answer = client.post("/organize/challenges/owls/delete", {"confirm": "owls"}, follow=True)
    assert (answer.redirect_chain, answer.status_code) == ([("/", 302)], 200)
    assert "The challenge owls was deleted." in Page(answer).words


def test_the_form_of_a_challenge_neither_publishes_it_nor_takes_it_back(draft: Challenge, client: Client) -> None:
    assert named(save(client, draft, visibility="public")) == {"visibility"}
    Challenge.objects.filter(slug="owls").update(visibility="public")
    draft.refresh_from_db()
    assert named(save(client, draft, visibility="draft")) == {"visibility"}
    assert save(client, draft, visibility="unlisted").status_code == 302


@pytest.mark.usefixtures("quick_podium", "inline_queue")
def test_an_import_does_not_remove_what_was_added_by_forms_without_force(
    draft: Challenge, owner: User, add: Callable[..., Any], bundle: BundleFolder, run: Callable[..., list[str]]
) -> None:
    add(slug="second")
    bundle.sheet(text=SHEET.replace("slug: animals", "slug: owls"))
    with pytest.raises(InvalidBundle) as refusal:
        run(by=owner)
    messages = [one.message for one in refusal.value.problems if one.code == "would_undo_edit"]
    assert any("challenge owls: visibility was edited on the server" in one for one in messages)
    assert sum("phase second was edited on the server; this import would remove it" in one for one in messages) == 1
    run(by=owner, consent=Consent(force=True, reveal=True))
    assert [one.slug for one in Phase.objects.all()] == ["main"]
