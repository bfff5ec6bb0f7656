"""Tests how long files are stored, how much storage a team may use, and how pages and the API show this."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from pytest_django import Settings

from server.errors import Refused
from server.submissions.models import Status, Submission
from server.submissions.services import intake
from server.submissions.services.sweeping import sweep
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api
from tests.server.page import Page

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture
def ended(make: Make) -> Callable[..., Submission]:
    """Return a function that creates a submission that ended some days ago: `ended(Status.FAILED, days=8)`."""

    def build(status: Status, *, days: float, **fields: Any) -> Submission:
        why = {"fault": "platform", "failure": "x"} if status == Status.FAILED else {}
        made: Submission = make.submission(make.phase(), status=status, finished_at=NOW - days * DAY, **why, **fields)
        return made

    return build


@pytest.mark.parametrize("status", [Status.REJECTED, Status.FAILED, Status.CANCELLED])
@pytest.mark.parametrize(("days", "removed"), [(6.9, 0), (7.1, 1)])
def test_a_file_that_was_not_scored_is_removed_after_a_week_and_its_row_remains(
    ended: Callable[..., Submission], status: Status, days: float, removed
) -> None:
    submission = ended(status, days=days)
    path = Path(submission.file.path)
    assert sweep().removed == removed
    submission.refresh_from_db()
    assert (path.exists(), bool(submission.file), submission.status) == (not removed, not removed, status)


def test_a_file_that_cannot_be_removed_does_not_stop_the_sweeper(
    ended: Callable[..., Submission], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    paths = [Path(ended(Status.FAILED, days=8).file.path) for _ in range(2)]
    unlink = Path.unlink

    def refuse_first(path: Path, **options: Any) -> None:
        if path == paths[0]:
            raise PermissionError(13, "Permission denied")
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", refuse_first)
    assert sweep().removed == 1
    assert [path.exists() for path in paths] == [True, False]
    assert f"alarm: {paths[0]} cannot be removed" in caplog.text


def test_a_file_that_was_scored_is_kept(ended: Callable[..., Submission]) -> None:
    submission = ended(Status.SCORED, days=1000)
    assert sweep().removed == 0
    assert Path(submission.file.path).exists()


@pytest.fixture
def entrant(make: Make) -> dict[str, Any]:
    phase = make.phase()
    team = make.team(phase.challenge)
    return {"user": team.memberships.get().user, "team": team, "phase": phase}


def submit(entrant: dict[str, Any], content: bytes) -> Submission:
    return intake.submit(file=ContentFile(content, "predictions.csv"), **entrant)


def test_files_beyond_a_teams_share_are_refused(
    entrant: dict[str, Any], settings: Settings, inline_queue: InlineQueue, own_folders: None
) -> None:
    settings.TEAM_STORAGE_BYTES = 100
    submit(entrant, b"a" * 60)
    with pytest.raises(Refused) as caught:
        submit(entrant, b"b" * 41)
    assert (caught.value.code, caught.value.status) == ("storage_exhausted", 429)
    assert (caught.value.extra["used_bytes"], caught.value.extra["allowed_bytes"]) == (60, 100)
    assert submit(entrant, b"c" * 40).size_bytes == 40
    assert len(list((Path(settings.MEDIA_ROOT) / "submissions").iterdir())) == 2


def test_rejected_files_count_until_they_are_removed(
    make: Make, entrant: dict[str, Any], settings: Settings, inline_queue: InlineQueue
) -> None:
    settings.TEAM_STORAGE_BYTES = 100
    ended = {"status": Status.REJECTED, "finished_at": NOW - 6 * DAY}
    rejected = make.submission(entrant["phase"], entrant["team"], content=b"a" * 100, **ended)
    with pytest.raises(Refused) as caught:
        submit(entrant, b"b")
    assert caught.value.extra["next_allowed_at"] == (NOW + DAY).isoformat().replace("+00:00", "Z")
    left = (NOW + DAY - datetime.now(UTC)).total_seconds()
    assert left <= int(caught.value.headers["Retry-After"]) < left + 60
    Submission.objects.filter(pk=rejected.pk).update(finished_at=NOW - 8 * DAY)
    sweep()
    assert submit(entrant, b"b").status == Status.QUEUED


def test_each_team_has_its_own_storage_limit(
    make: Make, entrant: dict[str, Any], settings: Settings, inline_queue: InlineQueue
) -> None:
    settings.TEAM_STORAGE_BYTES = 10
    make.submission(entrant["phase"], content=b"a" * 10)
    assert submit(entrant, b"b" * 10)


def test_a_full_share_is_reported_before_a_body_is_read(
    make: Make, entrant: dict[str, Any], settings: Settings, api: Api
) -> None:
    settings.TEAM_STORAGE_BYTES = 10
    make.submission(entrant["phase"], entrant["team"], content=b"a" * 10)
    phase = entrant["phase"]
    path = f"challenges/{phase.challenge.slug}/phases/{phase.slug}"
    answer = api.post(f"{path}/submissions", user=entrant["user"])
    assert (answer.status_code, answer.json()["code"]) == (429, "storage_exhausted")
    told = api.get(f"{path}/quota", user=entrant["user"]).json()
    assert (told["storage_used_bytes"], told["storage_allowed_bytes"]) == (10, 10)


@pytest.mark.parametrize("page", ["submit", "submissions"])
def test_pages_show_the_share_and_how_long_files_stay(
    make: Make, entrant: dict[str, Any], settings: Settings, client: Client, page: Page
) -> None:
    settings.TEAM_STORAGE_BYTES = 3 * 2**30
    make.submission(entrant["phase"], entrant["team"], content=b"a")
    client.force_login(entrant["user"])
    words = Page(client.get(f"/challenges/{entrant['phase'].challenge.slug}/{page}")).words
    assert "3 GiB" in words
    assert "7 days" in words


def test_the_page_of_a_submission_shows_until_when_its_file_is_stored(
    ended: Callable[..., Submission], client: Client, api: Api
) -> None:
    submission = ended(Status.REJECTED, days=6)
    client.force_login(submission.user)
    address = f"/submissions/{submission.pk}/"
    assert "The file will be kept until" in Page(client.get(address)).words
    assert api.get(f"submissions/{submission.pk}", user=submission.user).json()["file_kept"] is True
    Submission.objects.update(finished_at=NOW - 8 * DAY)
    sweep()
    assert "The file was removed after 7 days" in Page(client.get(address)).words
    told = api.get(f"submissions/{submission.pk}", user=submission.user).json()
    assert (told["file_kept"], told["file_removed_at"]) == (False, None)
