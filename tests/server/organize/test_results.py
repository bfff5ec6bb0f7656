"""The signed results of a phase contain what the leaderboards show, and `podium verify` accepts the file."""

import csv
import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from evaluator.cli import main
from evaluator.signing import KEY, canonical, check, opened, public_key
from server.accounts.models import User
from server.challenges.disqualification import disqualify
from server.challenges.models import Phase
from server.clock import time_text
from server.organize.models import TruthStatistics
from server.organize.services.signing_keys import public_key as server_key
from tests.conftest import Make
from tests.server.conftest import Scored

PRIVATE = 0.4321098765432101
OVER = {"closes_at": datetime(2026, 1, 1, tzinfo=UTC)}
ADDRESS = "/challenges/c/results"
NOW = "?preliminary=1"
pytestmark = pytest.mark.phase(challenge={"slug": "c", "opens_at": datetime(2025, 1, 1, tzinfo=UTC)}, slug="main")


@pytest.fixture
def teams(phase: Phase, make: Make, scored: Scored) -> Phase:
    """Return a phase with two teams that have equal scores, a third team, a baseline, and a disqualified team."""
    for name, public in (("Owls", 0.1 + 0.2), ("=Hawks", 0.1 + 0.2), ("Ravens", 1 / 3)):
        scored(phase, public, private=PRIVATE, team=make.team(phase.challenge, name=name), interval=(0.1, 0.9))
    scored(phase, 0.5, private=0.5, team=make.team(phase.challenge, name="Baseline", is_baseline=True))
    cheaters = make.team(phase.challenge, name="Cheaters")
    scored(phase, 0.9, private=0.9, team=cheaters)
    disqualify(team=cheaters, reason="They cheated.", by=None)
    return phase


@pytest.fixture
def organizer(phase: Phase, make: Make) -> Client:
    user, client = make.user(), Client()
    phase.challenge.organizers.add(user)
    client.force_login(user)
    return client


def end(phase: Phase) -> None:
    Phase.objects.filter(pk=phase.pk).update(**OVER)


def entries(content: bytes) -> list[tuple[Any, ...]]:
    boards = json.loads(content)["results"]["leaderboards"]
    return [(board["split"], one["rank"], one["team"], one["score"]) for board in boards for one in board["entries"]]


def test_the_results_have_the_entries_of_both_leaderboards(teams: Phase, organizer: Client) -> None:
    assert entries(organizer.get(f"{ADDRESS}.json{NOW}").content) == [
        ("public", None, "Baseline", 0.5),
        ("public", 1, "Ravens", 1 / 3),
        ("public", 2, "Owls", 0.1 + 0.2),
        ("public", 2, "=Hawks", 0.1 + 0.2),
        ("private", None, "Baseline", 0.5),
        ("private", 1, "Owls", PRIVATE),
        ("private", 1, "=Hawks", PRIVATE),
        ("private", 1, "Ravens", PRIVATE),
    ]


def test_the_results_name_the_truth_the_files_and_the_settings(teams: Phase, organizer: Client) -> None:
    truth = teams.truths.get()
    TruthStatistics.objects.create(truth=truth, content={"usage_hash": "ab" * 32})
    found = json.loads(organizer.get(f"{ADDRESS}.json{NOW}").content)["results"]
    assert found["truth"] == {"version": 1, "sha256": truth.sha256, "usage_hash": "ab" * 32}
    assert (found["challenge"], found["phase"], found["track"]) == ("c", "main", teams.track)
    assert (found["signature"], found["final"], found["decimals"]) == (teams.signature, False, None)
    hashes = {team.name: team.submissions.get().sha256 for team in teams.challenge.teams.all()}
    listed = {one["team"]: one["submission_sha256"] for one in found["leaderboards"][0]["entries"]}
    assert listed == {name: hashes[name] for name in listed}


def test_podium_accepts_the_file_with_the_key_of_the_server(
    teams: Phase, organizer: Client, tmp_path: Path, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    file, key = tmp_path / "results.json", tmp_path / "key.json"
    file.write_bytes(organizer.get(f"{ADDRESS}.json{NOW}").content)
    key.write_bytes(client.get("/api/v1/signing-key").content)
    assert main(["verify", str(file), "--key", str(key)]) == 0
    assert "8 entries: the ranks match the scores" in capsys.readouterr().out
    for old, new in ((b"0.3333", b"0.3334"), (b'"rank":2', b'"rank":1'), (b"Ravens", b"Robins")):
        file.write_bytes(organizer.get(f"{ADDRESS}.json{NOW}").content.replace(old, new, 1))
        assert main(["verify", str(file), "--key", str(key)]) == 6
    file.write_bytes(organizer.get(f"{ADDRESS}.json{NOW}").content)
    assert main(["verify", str(file), "--key", public_key(sha256(b"another server").digest())]) == 7


def test_the_csv_has_the_content_of_the_json(teams: Phase, organizer: Client) -> None:
    boards = json.loads(organizer.get(f"{ADDRESS}.json{NOW}").content)["results"]["leaderboards"]
    rows = list(csv.DictReader(StringIO(organizer.get(f"{ADDRESS}.csv{NOW}").content.decode(), newline="")))
    listed = [(board["split"], one) for board in boards for one in board["entries"]]
    assert len(rows) == len(listed) == 8
    for row, (split, one) in zip(rows, listed, strict=True):
        low, high = one["interval"] or (None, None)
        assert row == {
            "split": split,
            "rank": "" if one["rank"] is None else str(one["rank"]),
            "team": {"=Hawks": "'=Hawks"}.get(one["team"], one["team"]),
            "score": repr(one["score"]),
            "low": "" if low is None else repr(low),
            "high": "" if high is None else repr(high),
            **{name: repr(value) for name, value in one["scores"].items()},
            "entries": str(one["entries"]),
            "submitted_at": one["submitted_at"],
            "baseline": "true" if one["baseline"] else "false",
            "submission_sha256": one["submission_sha256"],
        }


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_before_the_end_nobody_but_organizers_reads_the_results(
    ending: str, teams: Phase, organizer: Client, make: Make
) -> None:
    member = teams.challenge.teams.get(name="Owls").memberships.get().user
    assert organizer.get(f"{ADDRESS}.{ending}{NOW}").status_code == 200
    for user in (None, make.user(), member):
        answers = [client_of(user).get(f"{address}") for address in addresses(ending)]
        for answer in answers:
            assert answer.status_code == 403
            assert str(PRIVATE).encode() not in answer.content
    end(teams)
    for user in (None, make.user(), member):
        for address in addresses(ending):
            answer = client_of(user).get(address)
            assert answer.status_code == 200
            assert str(PRIVATE).encode() in answer.content


def addresses(ending: str) -> list[str]:
    return [f"{ADDRESS}.{ending}", f"/api/v1/challenges/c/phases/main/results?format={ending}"]


def client_of(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def test_the_leaderboard_links_the_results_to_those_who_can_read_them(
    teams: Phase, organizer: Client, client: Client
) -> None:
    link = b'href="/challenges/c/results.json"'
    assert link in organizer.get("/challenges/c/leaderboard").content
    assert link not in client.get("/challenges/c/leaderboard").content
    end(teams)
    assert link in client.get("/challenges/c/leaderboard").content


@pytest.mark.phase(feedback="rounded", feedback_decimals=2)
def test_participants_get_the_rounded_scores_that_they_may_see(
    teams: Phase, organizer: Client, client: Client, tmp_path: Path
) -> None:
    end(teams)
    content = client.get(f"{ADDRESS}.json").content
    assert str(PRIVATE).encode() not in content
    assert json.loads(content)["results"]["decimals"] == 2
    assert entries(content)[1:4] == [
        ("public", 1, "Ravens", 0.33),
        ("public", 2, "Owls", 0.3),
        ("public", 2, "=Hawks", 0.3),
    ]
    assert str(PRIVATE).encode() in organizer.get(f"{ADDRESS}.json{NOW}").content
    (tmp_path / "results.json").write_bytes(content)
    assert main(["verify", str(tmp_path / "results.json"), "--key", server_key()]) == 0


def test_a_phase_without_private_images_has_one_leaderboard(phase: Phase, scored: Scored, client: Client) -> None:
    scored(phase, 0.5)
    end(phase)
    found = json.loads(client.get(f"{ADDRESS}.json").content)["results"]
    assert [board["split"] for board in found["leaderboards"]] == ["public"]
    assert found["final"] is True


def test_results_name_the_truth_of_the_shown_scores(phase: Phase, make: Make, scored: Scored, client: Client) -> None:
    scored(phase, 0.5, private=0.4)
    shown = Phase.objects.get(pk=phase.pk).signature
    make.truth(phase)
    Phase.objects.filter(pk=phase.pk).update(signature=shown, **OVER)
    assert json.loads(client.get(f"{ADDRESS}.json").content)["results"]["truth"]["version"] == 1


def test_a_phase_without_a_truth_has_no_results(phase: Phase, client: Client) -> None:
    end(phase)
    phase.truths.all().delete()
    assert client.get(f"{ADDRESS}.json").status_code == 404


def test_a_removed_submission_has_no_hash(phase: Phase, scored: Scored, client: Client) -> None:
    scored(phase, 0.5, private=0.4).evaluations.get().delete()
    end(phase)
    (one,) = json.loads(client.get(f"{ADDRESS}.json").content)["results"]["leaderboards"][0]["entries"]
    assert (one["score"], one["submission_sha256"]) == (0.5, None)


@pytest.mark.django_db
def test_the_key_of_the_server_is_derived_from_its_secret(settings: Settings, client: Client) -> None:
    first = client.get("/api/v1/signing-key").json()
    assert first["algorithm"] == "Ed25519"
    assert KEY.fullmatch(first["public_key"])
    assert first["public_key"].encode() in client.get("/help/results").content
    settings.SIGNING_KEY = "another" * 9
    assert client.get("/api/v1/signing-key").json()["public_key"] != first["public_key"]


def test_equal_results_are_equal_bytes(teams: Phase, organizer: Client) -> None:
    now = teams.challenge.opens_at + timedelta(days=1)
    one, other = (json.loads(organizer.get(f"{ADDRESS}.json{NOW}").content) for _ in range(2))
    for found in (one, other):
        found["results"]["exported_at"] = time_text(now)
    assert canonical(one["results"]) == canonical(other["results"])
    check(opened(organizer.get(f"{ADDRESS}.json{NOW}").content), keys=[server_key()])
