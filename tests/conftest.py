"""What many tests need: rows in one line, folders of their own, and a queue that runs when told."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from django.core.files.base import ContentFile

from evaluator.catalog import TRACKS
from evaluator.signature import compose
from server.accounts.models import User
from server.challenges.models import Challenge, Membership, Phase, Team, Truth
from server.submissions import queue
from server.submissions.models import Rerun, Submission
from worker import tasks
from worker.heartbeat import LeaseLost

PASSWORD = "correct horse battery"


class Make:
    """Rows with sensible defaults; every name is new, every field can be given."""

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
        """A phase with an active truth; the truth's file is empty, so that nothing can really be scored."""
        challenge = challenge or self.challenge()
        slug = f"phase-{next(self.numbers)}"
        phase = Phase.objects.create(
            **{"challenge": challenge, "slug": slug, "title": slug, "track": "openimages-detection", **fields}
        )
        self.truth(phase)
        return phase

    def truth(self, phase: Phase, *, content: bytes = b"", **fields: Any) -> Truth:
        """The next version, active, with the signature that scores against it carry."""
        phase.truths.update(active=False)
        version = phase.truths.count() + 1
        digest = sha256(f"{phase.pk} {version}".encode()).hexdigest()
        track = TRACKS[phase.track]
        truth = Truth.objects.create(
            **{
                "phase": phase,
                "version": version,
                "sha256": digest,
                "active": True,
                "prepared": ContentFile(content, "truth.podium"),
                "source": ContentFile(b"", "truth.zip"),
                **fields,
            }
        )
        phase.signature = compose(track, track.resolve(phase.parameters), truth.sha256)
        phase.save(update_fields=["signature"])
        return truth

    def team(self, challenge: Challenge, *users: User, **fields: Any) -> Team:
        """A team of these people (of one new person, if none is given) who accepted the rules."""
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
        """A row as it stands after an upload, without going through the services (no quota charged)."""
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


class InlineHeartbeat:
    """Beats in the caller's thread: a second thread would wait for the test's own transaction."""

    def __init__(self, what: str, beat: Any) -> None:
        self.tell = beat

    def __enter__(self) -> "InlineHeartbeat":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def progress(self, stage: str, fraction: float) -> None:
        if not self.tell(stage=stage, progress=fraction):
            raise LeaseLost


class InlineQueue:
    """Stands in for the broker: keeps what was sent, and plays the worker when told to."""

    def __init__(self) -> None:
        self.sent: list[UUID] = []
        self.sent_later: list[int] = []

    def work(self) -> None:
        """Score everything that is queued, whether its message was sent or not: as sweeper and worker would."""
        for submission in Submission.objects.filter(status="queued").order_by("received_at"):
            tasks.evaluate(str(submission.pk))

    def work_later(self) -> None:
        """Then what has lower priority."""
        for rerun in Rerun.objects.waiting().order_by("pk"):
            tasks.rerun(rerun.pk)


@pytest.fixture
def own_folders(settings: Any, tmp_path: Any) -> None:
    """Uploads of one test never meet those of another."""
    settings.MEDIA_ROOT = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "incoming"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()


@pytest.fixture
def make(db: None, own_folders: None) -> Make:
    """`make.user()`, `make.phase()`, `make.team(challenge)`, `make.submission(phase)` …"""
    return Make()


@pytest.fixture
def inline_queue(monkeypatch: pytest.MonkeyPatch) -> InlineQueue:
    """Messages are kept in `.sent` instead of going to a broker; `.work()` scores what is queued, here and now.

    In a test with `db`, effects on commit do not happen by themselves: `django_capture_on_commit_callbacks`
    runs them. `.work()` looks at the rows and needs no messages.
    """
    inline = InlineQueue()
    monkeypatch.setattr(queue, "enqueue", inline.sent.append)
    monkeypatch.setattr(queue, "enqueue_rerun", inline.sent_later.append)
    monkeypatch.setattr(tasks, "Heartbeat", InlineHeartbeat)
    return inline
