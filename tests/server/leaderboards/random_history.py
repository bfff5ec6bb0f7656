"""A phase to which everything happens that changes leaderboards, at random, by the real services."""

import struct
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any

from django.contrib.auth.models import AnonymousUser

from evaluator.signature import compose
from server.accounts.models import User
from server.challenges import disqualification
from server.challenges.models import Challenge, Membership, Phase, Team, Truth
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.queries import board
from server.organize.services import rescoring
from server.submissions.models import Rerun, Status, Submission
from server.submissions.services import choices, leases, lifecycle, reruns

TEAMS, REPLICATES = 5, 8
SPLITS = ("public", "private", "all")
VALUES = (None, 0.0, 0.25, 0.5, 0.5, 0.625, 0.75, 0.7500000000000001, 1.0)  # ties, nearly ties, undefined
ANYBODY = AnonymousUser()

Shown = list[tuple[str, int | None, float, Any]]  # team, rank, score, interval


class History:
    """`happen()` does something at random; `shown()` is what leaderboards show."""

    def __init__(self, seed: int, **fields: Any) -> None:
        self.random = Random(seed)
        self.done: Counter[str] = Counter()
        now = datetime.now(UTC)
        self.challenge = Challenge.objects.create(
            slug=f"history{seed}", title="History", opens_at=now - timedelta(days=1), closes_at=now + timedelta(days=1)
        )
        self.organizer = User.objects.create_user(f"organizer{seed}", f"organizer{seed}@example.org")
        self.challenge.organizers.add(self.organizer)
        track = "openimages-detection"
        self.phase = Phase.objects.create(challenge=self.challenge, slug="main", title="Main", track=track, **fields)
        self.truths = [self.truth(version) for version in (1, 2, 3)]
        Truth.objects.filter(pk=self.truths[0].pk).update(active=True, used=True)
        self.phase.signature = self.signature(self.truths[0])
        self.phase.save()
        self.teams = [self.team(seed, number) for number in range(TEAMS)]
        self.values: dict[tuple[Any, int], dict[str, float | None]] = {}

    def truth(self, version: int) -> Truth:
        digest = sha256(f"{self.phase.pk} {version}".encode()).hexdigest()
        return Truth.objects.create(phase=self.phase, version=version, sha256=digest)

    def team(self, seed: int, number: int) -> Team:
        is_baseline = number == 0
        team = Team.objects.create(challenge=self.challenge, name=f"Team {number}", is_baseline=is_baseline)
        if not is_baseline:
            user = User.objects.create_user(f"member{seed}-{number}", f"member{seed}-{number}@example.org")
            Membership.objects.create(team=team, challenge=self.challenge, user=user, rules_accepted_at=database_now())
        return team

    def signature(self, truth: Truth) -> str:
        track = self.phase.declared_track
        return compose(track, track.resolve(self.phase.parameters), truth.sha256)

    def happen(self) -> str:
        """Do something, and return what."""
        deeds: dict[Callable[[], None], int] = {
            self.record: 30,
            self.reject: 6,
            self.rerun: 40,
            self.choose: 14,
            self.disqualify: 4,
            self.reinstate: 6,
            self.begin_rescoring: 5,
            self.apply_rescoring: 8,
            self.discard_rescoring: 1,
            self.change_finals: 2,
            self.rename: 1,
        }
        (deed,) = self.random.choices([*deeds], [*deeds.values()])
        try:
            deed()
        except Refused as refusal:
            self.done[f"{deed.__name__} {refusal.code}"] += 1
            return refusal.code
        self.done[deed.__name__] += 1
        return deed.__name__

    def record(self) -> None:
        submission = self.claimed()
        truth = Truth.objects.get(phase=self.phase, active=True)
        assert lifecycle.record(submission, truth=truth, report=self.report(submission, truth), cpu_seconds=0.1)

    def reject(self) -> None:
        assert lifecycle.reject(self.claimed(), findings={"errors": [], "total": 1})

    def claimed(self) -> Submission:
        now = database_now()
        one = Submission.objects.create(
            **{"phase": self.current(), "team": self.random.choice(self.teams), "file": "submissions/none"},
            **{"file_name": "a.csv", "size_bytes": 1, "sha256": "0" * 64, "received_at": now, "enqueued_at": now},
        )
        found = leases.claim(Submission, one.pk)
        assert found is not None
        return found

    def report(self, submission: Submission, truth: Truth, *, intervals: bool = False) -> dict[str, Any]:
        """The report of a scoring, which is always the same for the same file and truth."""
        scores = self.values.setdefault(
            (submission.pk, truth.pk), {split: self.random.choice(VALUES) for split in SPLITS}
        )
        splits = {
            split: {
                "headline": "mAP",
                "metrics": {"mAP": value, "other": 0.5},
                "intervals": {"mAP": [value - 0.125, value + 0.125]} if intervals and value is not None else {},
            }
            for split, value in scores.items()
        }
        return {"signature": self.signature(truth), "splits": splits}

    def rerun(self) -> None:
        """Record one rerun of those that are queued, for intervals or for a rescoring."""
        queued = list(Rerun.objects.queued().scoring().filter(submission__phase=self.phase).order_by("pk"))
        if not queued:
            return
        found = leases.claim(Rerun, self.random.choice(queued).pk)
        if found is None:  # another thread has it
            return
        vectors = {
            split: struct.pack(f"<{REPLICATES}d", *(self.random.choice((0.2, 0.5, 0.9)) for _ in range(REPLICATES)))
            for split in SPLITS
        }
        report = self.report(found.submission, found.truth, intervals=True)
        reruns.record(found, report=report, replicates=vectors, cpu_seconds=0.1)

    def choose(self) -> None:
        scored = list(Submission.objects.filter(phase=self.phase, status=Status.SCORED, team__is_baseline=False))
        if scored:
            one = self.random.choice(scored)
            by = one.team.memberships.get().user
            choices.set_final(submission=one, by=by, final=self.random.random() < 0.7)

    def disqualify(self) -> None:
        disqualification.disqualify(team=self.random.choice(self.teams), by=self.organizer, reason="Two accounts")

    def reinstate(self) -> None:
        out = list(Team.objects.filter(challenge=self.challenge).exclude(disqualified_at=None))
        if out:
            disqualification.reinstate(team=self.random.choice(out), by=self.organizer)

    def begin_rescoring(self) -> None:
        rescoring.begin(phase=self.current(), by=None, truth=self.random.choice(self.truths))

    def apply_rescoring(self) -> None:
        begun = rescoring.open_rescoring(self.current())
        if begun is None:
            return
        for _ in range(20):  # most of what is missing, not always all of it
            self.rerun()
        rescoring.apply(rescoring=begun, by=None, reveal=True)

    def discard_rescoring(self) -> None:
        rescoring.discard(phase=self.current(), by=None)

    def change_finals(self) -> None:
        phase = self.current()
        phase.finals = self.random.choice((1, 2, 3))
        phase.save(update_fields=["finals"])

    def rename(self) -> None:
        """Names are those of today at every time, so only the order could go wrong."""
        team = Team.objects.get(pk=self.random.choice(self.teams).pk)
        team.name = team.name.swapcase()
        team.save(update_fields=["name"])

    def current(self) -> Phase:
        return Phase.objects.get(pk=self.phase.pk)

    def shown(self, *, at: datetime | None = None) -> dict[str, Shown]:
        """What each viewer is shown on each split, now or at a time."""
        phase = self.current()
        boards = {"anybody": board(phase, split="public", at=at, viewer=ANYBODY)}
        boards |= {split: board(phase, split=split, at=at, viewer=self.organizer) for split in SPLITS}
        return {
            name: [(row.team.casefold(), row.rank, row.score, row.interval) for row in one.rows]
            for name, one in boards.items()
        }

    def moments(self) -> Iterator[datetime]:
        """Yield times that differ from those of all events, because the clock of SQLite has milliseconds."""
        while True:
            self.wait()
            yield database_now()
            self.wait()

    @staticmethod
    def wait() -> None:
        before = database_now()
        while database_now() <= before:
            time.sleep(0.0005)
