"""Fixtures that many tests share: database rows with defaults, temporary folders, and a queue without a broker."""

import gc
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from django.db.models import Model
from django.test import Client
from pytest_django import Settings

from evaluator import __version__
from server.accounts.models import User
from server.challenges.gate import current_settings
from server.challenges.models import Challenge, Membership, Phase, Team, Truth
from server.challenges.shaping import shaping_settings, signature_of
from server.leaderboards.models import Comparison
from server.leaderboards.services import comparisons
from server.organize import podium
from server.organize.services.kits import kit_settings
from server.submissions import queue
from server.submissions.models import Rerun, Submission
from tests.migrated_database import django_db_modify_db_settings
from tests.podium_in_process import run_here
from worker import tasks, time_shares
from worker.comparisons.comparing import compared
from worker.heartbeat import LeaseLost
from worker.time_shares import TimeShare

__all__ = ["django_db_modify_db_settings"]


def pytest_collection_finish() -> None:
    """Exclude modules and collected tests from garbage collection. Otherwise, it takes 8% of the tests' time."""
    gc.freeze()


PASSWORD = "correct horse battery"


class Make:
    """A factory for database rows with sensible defaults and unique names. Arguments override any field."""

    password = PASSWORD

    def __init__(self) -> None:
        self.numbers = count(1)

    def user(self, **fields: Any) -> User:
        name = fields.pop("username", f"person{next(self.numbers)}")
        return User.objects.create_user(name, fields.pop("email", f"{name}@example.org"), PASSWORD, **fields)

    def challenge(self, **fields: Any) -> Challenge:
        slug = fields.pop("slug", f"challenge-{next(self.numbers)}")
        opens_at = datetime.now(UTC) - timedelta(days=30)
        return Challenge.objects.create(**{"slug": slug, "title": slug, "opens_at": opens_at, **fields})

    def phase(self, challenge: Challenge | None = None, **fields: Any) -> Phase:
        """Create a phase. Its active ground truth is an empty file, so no submission can be scored against it."""
        challenge = challenge or self.challenge()
        slug = f"phase-{next(self.numbers)}"
        phase = Phase.objects.create(
            **{"challenge": challenge, "slug": slug, "title": slug, "track": "openimages-detection", **fields}
        )
        self.truth(phase)
        return phase

    def truth(self, phase: Phase, *, content: bytes = b"", **fields: Any) -> Truth:
        """Create the next ground truth version of a phase, make it active, and update the phase's signature.

        The signature identifies the track, parameters, ground truth and evaluator version that produce a score.
        """
        phase.truths.update(active=False)
        version = phase.truths.count() + 1
        digest = sha256(f"{phase.pk} {version}".encode()).hexdigest()
        truth = Truth.objects.create(
            **{
                "phase": phase,
                "version": version,
                "sha256": digest,
                "active": True,
                "prepared_with": shaping_settings(phase),
                "kit_made_with": kit_settings(phase),
                "prepared": ContentFile(content, "truth.podium"),
                "source": ContentFile(b"", "truth.zip"),
                "gate": green_gate(phase),
                **fields,
            }
        )
        phase.signature = signature_of(phase, truth.sha256)
        phase.save(update_fields=["signature"])
        return truth

    def team(self, challenge: Challenge, *users: User, **fields: Any) -> Team:
        """Create a team of the given users, or of a new user. All members have accepted the rules."""
        people = users or (() if fields.get("is_baseline") else (self.user(),))
        team = Team.objects.create(**{"challenge": challenge, "name": f"Team {next(self.numbers)}", **fields})
        for place, user in enumerate(people):
            Membership.objects.create(
                team=team,
                challenge=challenge,
                user=user,
                is_captain=place == 0,
                rules_accepted_at=datetime.now(UTC),
            )
        return team

    def submission(self, phase: Phase, team: Team | None = None, **fields: Any) -> Submission:
        """Create a queued submission directly in the database, without using any quota."""
        team = team or self.team(phase.challenge)
        content = fields.pop("content", f"ImageId,PredictionString\nimage{next(self.numbers)},\n".encode())
        now = datetime.now(UTC)
        member = team.memberships.first()
        return Submission.objects.create(
            **{
                "phase": phase,
                "team": team,
                "user": member and member.user,
                "file": ContentFile(content, "predictions.csv"),
                "file_name": "predictions.csv",
                "size_bytes": len(content),
                "sha256": sha256(content).hexdigest(),
                "received_at": now,
                "enqueued_at": now,
                **fields,
            }
        )


def green_gate(phase: Phase) -> dict[str, Any]:
    """Return the stored result of a gate (the checks before a phase opens) in which every check has passed."""
    return {"settings": current_settings(phase), "evaluator": __version__, "green": True, "checks": []}


def compare_boards() -> None:
    """Compute ties and rank intervals for every changed leaderboard, like a worker but without pauses."""
    comparisons.add_missing()
    while True:
        for one in Comparison.objects.exclude(not_before=None):  # Each query updates one row, to avoid deadlocks.
            Comparison.objects.filter(pk=one.pk).update(not_before=None)
        claimed = comparisons.claim_next()
        if claimed is None:
            return
        comparisons.record(claimed, compared(claimed), seconds=0.0)


class InlineHeartbeat:
    """A heartbeat that renews the worker's lease on a job in the calling thread, instead of in a second thread.

    A second thread would use its own database connection, which the open transaction of the test would block.
    """

    def __init__(self, name: str, prolong: Any) -> None:
        self.prolong = prolong

    def __enter__(self) -> "InlineHeartbeat":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def progress(self, stage: str, fraction: float) -> None:
        if not self.prolong(stage=stage, progress=fraction):
            raise LeaseLost


class InlineQueue:
    """A replacement for the broker that collects messages and, on request, does the work of the worker."""

    def __init__(self) -> None:
        self.sent: list[UUID] = []
        self.sent_later: list[int] = []
        self.sent_for_boards: list[int] = []

    def enqueue(self, kind: type[Model], key: Any, *, urgent: bool = False) -> None:
        lists: dict[type[Model], list[Any]] = {Submission: self.sent, Rerun: self.sent_later}
        lists.get(kind, self.sent_for_boards).append(key)

    def work(self) -> None:
        """Score all queued submissions, even those for which no message was sent."""
        for submission in Submission.objects.filter(status="queued").order_by("received_at"):
            tasks.evaluate(str(submission.pk))

    def work_later(self) -> None:
        """Run all queued reruns, which score submissions again, for example to compute intervals or explanations."""
        for rerun in Rerun.objects.queued().order_by("pk"):
            tasks.rerun(rerun.pk)


@pytest.fixture(autouse=True)
def podium_in_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the program `podium` in the test process, unless the test is marked with `child_process`."""
    if request.node.get_closest_marker("child_process") is None:
        monkeypatch.setattr(podium, "run_in", run_here)


@pytest.fixture
def own_folders(settings: Settings, tmp_path: Path) -> None:
    """Store uploads in temporary folders during the test."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()


@pytest.fixture
def make(db: None, own_folders: None) -> Make:
    """Return a factory for database rows.

    For example, `make.user()`, `make.phase()`, `make.team(challenge)` and `make.submission(phase)` create rows.
    """
    return Make()


def marked(request: pytest.FixtureRequest, name: str) -> dict[str, Any]:
    """Return the keyword arguments of the test's markers with the given name.

    If several markers set the same argument, the marker closest to the test takes precedence.
    """
    return {
        name: value for marker in reversed([*request.node.iter_markers(name)]) for name, value in marker.kwargs.items()
    }


@pytest.fixture
def phase(make: Make, request: pytest.FixtureRequest) -> Phase:
    """Create a challenge with an open phase.

    `@pytest.mark.phase(challenge={"slug": "c"}, quota_per_day=2)` sets fields of the challenge and of the phase.
    """
    fields = marked(request, "phase")
    return make.phase(make.challenge(**fields.pop("challenge", {})), **fields)


@pytest.fixture
def member(make: Make, client: Client, request: pytest.FixtureRequest) -> User:
    """Create a user and log `client` in as that user. `@pytest.mark.member(username="ada")` sets its fields."""
    user = make.user(**marked(request, "member"))
    client.force_login(user)
    return user


@pytest.fixture
def team(make: Make, phase: Phase, member: User, request: pytest.FixtureRequest) -> Team:
    """Create a team with `member` in the challenge of `phase`. `@pytest.mark.team(name="Owls")` sets its fields."""
    return make.team(phase.challenge, member, **marked(request, "team"))


@pytest.fixture
def inline_queue(monkeypatch: pytest.MonkeyPatch) -> InlineQueue:
    """Collect messages in `.sent` instead of sending them to a broker. `.work()` scores all queued submissions.

    With the fixture `db`, the transaction of a test is never committed. Use `django_capture_on_commit_callbacks` to run
    `on_commit` callbacks. `.work()` finds the jobs in the database and needs no messages. Each task does only one job,
    as if other messages were waiting.
    """
    inline = InlineQueue()
    monkeypatch.setattr(queue, "enqueue", inline.enqueue)
    monkeypatch.setattr(queue, "is_empty_above", lambda kind: False)
    # Reset the time that the worker owes to reruns (see `worker.time_shares`). Otherwise, nine seconds of scoring in
    # earlier tests would cause a rerun.
    for name in ("of_reruns", "of_late_reruns"):
        monkeypatch.setattr(time_shares, name, TimeShare())
    monkeypatch.setattr(tasks, "Heartbeat", InlineHeartbeat)
    return inline
