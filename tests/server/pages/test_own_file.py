"""Tests downloading a submitted file through the website and the API."""

import gzip
from datetime import UTC, datetime

import pytest
from django.core.files.base import ContentFile
from django.http import FileResponse
from django.test import Client

from server.accounts.models import User
from server.accounts.services import issue_token
from server.challenges.models import Phase, Team
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.page import Page

CONTENT = gzip.compress(b"ImageID,Label\n") + bytes(range(256)) * 40
ADDRESSES = ("/submissions/{}/file", "/api/v1/submissions/{}/file")

pytestmark = pytest.mark.phase(challenge={"slug": "c"})


@pytest.fixture
def submission(make: Make, phase: Phase, team: Team) -> Submission:
    one: Submission = make.submission(phase, team, file_name='a "b"\r\nX: y é.csv.gz')
    one.file.save("x", ContentFile(CONTENT))
    return one


def download(client: Client, address: str, submission: Submission, person: User) -> FileResponse:
    _, secret = issue_token(user=person, name="x", scope="read", days=1)
    client.force_login(person)
    headers = {"Authorization": f"Bearer {secret}"} if address.startswith("/api") else {}
    answer: FileResponse = client.get(address.format(submission.pk), headers=headers)
    return answer


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_member_gets_the_exact_bytes_as_an_attachment(
    address: str, submission: Submission, member: User, client: Client
) -> None:
    answer = download(client, address, submission, member)
    assert b"".join(answer.streaming_content) == CONTENT
    assert answer.headers["Content-Length"] == str(len(CONTENT))
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["Content-Disposition"].startswith("attachment; filename")
    assert "Content-Encoding" not in answer.headers
    assert not {"\r", "\n"} & set(answer.headers["Content-Disposition"])


@pytest.mark.parametrize("address", ADDRESSES)
def test_other_teams_get_404_and_organizers_403(
    address: str, submission: Submission, phase: Phase, make: Make, client: Client
) -> None:
    rival, organizer, staff = make.user(), make.user(), make.user(is_staff=True)
    make.team(phase.challenge, rival)
    phase.challenge.organizers.add(organizer)
    answers = [download(client, address, submission, person).status_code for person in (rival, organizer, staff)]
    assert answers == [404, 403, 403]


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_response_for_a_removed_file_is_410_and_says_when_it_was_removed(
    address: str, submission: Submission, member: User, client: Client
) -> None:
    Submission.objects.update(file="", status="rejected", finished_at=datetime.now(UTC))
    answer = download(client, address, submission, member)
    assert answer.status_code == 410
    assert b"removed after 7 days" in answer.content


def test_the_list_and_the_page_link_to_stored_files_only(submission: Submission, client: Client, member: User) -> None:
    client.force_login(member)
    address = f"/submissions/{submission.pk}/file"
    pages = (f"/submissions/{submission.pk}/", "/challenges/c/submissions")
    assert all(address in Page(client.get(page)).links() for page in pages)
    Submission.objects.update(file="", status="rejected", finished_at=datetime.now(UTC))
    assert not any(address in Page(client.get(page)).links() for page in pages)
