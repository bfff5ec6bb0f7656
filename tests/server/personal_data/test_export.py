"""Tests the export of personal data, which contains nothing that belongs to other people."""

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.test import Client

from server.accounts.models import User
from server.accounts.services import issue_token
from server.challenges.models import FormerMember, Phase, Team
from server.personal_data.export import zip_of
from server.submissions.models import Submission
from tests.conftest import PASSWORD, Make
from tests.server.conftest import Scored
from tests.server.documented import content_of

ADDRESS = "/accounts/data/export"


def exported(user: User) -> dict[str, bytes]:
    with ZipFile(BytesIO(b"".join(zip_of(user)))) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def submissions_in(files: dict[str, bytes]) -> dict[str, Any]:
    rows = [json.loads(line) for line in files["submissions.jsonl"].splitlines()]
    return {row["id"]: row for row in rows}


def log_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    client.post("/accounts/again", {"password": PASSWORD})
    return client


def test_an_export_requires_the_password_again(member: User, client: Client) -> None:
    response = client.get(ADDRESS)
    assert response.url == "/accounts/again?next=%2Faccounts%2Fdata%2Fexport"
    wrong = client.post(response.url, {"password": "wrong"})
    assert wrong.status_code == 200
    assert client.get(ADDRESS).status_code == 302


def test_an_export_does_not_reveal_the_exact_time_at_which_scoring_ended(
    phase: Phase, team: Team, member: User, scored: Scored
) -> None:
    scored(phase, 0.5, team=team, finished_at=datetime.now(UTC).replace(microsecond=123456))
    (row,) = submissions_in(exported(member)).values()
    assert datetime.fromisoformat(row["finished_at"]).microsecond == 0


def test_an_export_contains_the_data_of_the_person(phase: Phase, team: Team, member: User, scored: Scored) -> None:
    one = scored(phase, 0.5, team=team, note="first try", file_name="../../evil.CSV.gz")
    issue_token(user=member, name="laptop", scope="read", days=1)
    files = exported(member)
    assert json.loads(files["account.json"])["username"] == member.username
    assert json.loads(files["tokens.json"])[0]["name"] == "laptop"
    assert json.loads(files["memberships.json"])["teams"][0]["team_name"] == team.name
    assert files[f"submissions/{one.pk}.csv.gz"] == Path(one.file.path).read_bytes()
    row = submissions_in(files)[str(one.pk)]
    assert (row["note"], row["scores"]["public"]["mAP"]) == ("first try", 0.5)


def test_an_export_contains_no_secret(member: User, make: Make) -> None:
    _, secret = issue_token(user=member, name="laptop", scope="read", days=1)
    content = b"".join(exported(member).values())
    assert secret.encode() not in content
    assert member.password.encode() not in content


def test_an_export_contains_no_private_score_before_the_end(
    phase: Phase, team: Team, member: User, scored: Scored
) -> None:
    scored(phase, 0.5, private=0.123456, team=team)
    assert b"0.123456" not in b"".join(exported(member).values())


@pytest.mark.phase(feedback="ladder")
def test_an_export_contains_no_score_that_the_ladder_hides(
    phase: Phase, team: Team, member: User, scored: Scored
) -> None:
    one = scored(phase, 0.123456, team=team)
    assert submissions_in(exported(member))[str(one.pk)]["scores"] == {}


def test_an_export_contains_no_file_of_a_teammate(phase: Phase, make: Make, scored: Scored) -> None:
    ada, bob = make.user(), make.user()
    team = make.team(phase.challenge, ada, bob)
    of_ada, of_bob = scored(phase, 0.5, team=team, user=ada), scored(phase, 0.6, team=team, user=bob)
    files = exported(bob)
    assert f"submissions/{of_bob.pk}.csv" in files
    assert not any(str(of_ada.pk) in name for name in files)
    assert [*submissions_in(files)] == [str(of_bob.pk)]


def test_a_person_who_left_a_team_gets_their_files_but_no_scores(phase: Phase, make: Make, scored: Scored) -> None:
    ada, bob = make.user(), make.user()
    team = make.team(phase.challenge, ada, bob)
    one = scored(phase, 0.123456, team=team, user=bob)
    scored(phase, 0.6, team=team, user=ada)
    team.memberships.get(user=bob).delete()
    FormerMember.objects.create(team=team, challenge=phase.challenge, user=bob, left_at=one.finished_at)
    files = exported(bob)
    assert [*submissions_in(files)] == [str(one.pk)]
    assert "scores" not in submissions_in(files)[str(one.pk)]
    assert b"0.123456" not in files["submissions.jsonl"]


def test_a_missing_file_is_left_out(phase: Phase, team: Team, member: User, scored: Scored) -> None:
    one = scored(phase, 0.5, team=team)
    Path(one.file.path).unlink()
    files = exported(member)
    assert str(one.pk) in submissions_in(files)
    assert not any(name.startswith("submissions/") for name in files)


def test_an_export_is_sent_in_small_parts(phase: Phase, team: Team, member: User, make: Make) -> None:
    make.submission(phase, team, content=b"x" * 10_000_000)
    assert max(map(len, zip_of(member))) < 200_000


def test_the_number_of_exports_is_limited(make: Make, phase: Phase) -> None:
    client = log_in(make.user())
    statuses = []
    for _ in range(11):
        response = client.get(ADDRESS)
        statuses.append(response.status_code)
        # Read the whole response. Django would otherwise close the test's connection to PostgreSQL.
        content_of(response)
    assert statuses == [200] * 10 + [429]


def test_after_a_merge_an_export_still_contains_the_submissions_of_the_person(
    phase: Phase, make: Make, scored: Scored
) -> None:
    ada = make.user()
    old, new = make.team(phase.challenge, ada), make.team(phase.challenge)
    one = scored(phase, 0.5, team=old)
    Submission.objects.filter(pk=one.pk).update(team=new, submitted_by=old)
    assert [*submissions_in(exported(ada))] == [str(one.pk)]
