"""Carries out random events that change the leaderboards of a phase, by calling the real services."""

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
from server.leaderboards.services.terms import apply_finals
from server.organize.services import rescoring
from server.personal_data.deletion import delete_account
from server.submissions.models import Rerun, Status, Submission
from server.submissions.services import choices, hiding, leases, lifecycle, reruns
from server.teams.services import merging
from tests.conftest import compare_boards

TEAMS, REPLICATES = 5, 20
SPLITS = ("public", "private", "all")
# Possible scores include equal values, nearly equal values and an undefined value.
VALUES = (None, 0.0, 0.25, 0.5, 0.5, 0.625, 0.75, 0.7500000000000001, 1.0)
ANYBODY = AnonymousUser()

Shown = list[tuple[int, int | None, float, Any]]  # A leaderboard: the team id, rank, score and interval of each entry.


class History:
    """A phase that is changed by random events. `happen()` carries out an event; `shown()` returns the leaderboards."""

    def __init__(self, seed: int, **fields: Any) -> None:
        self.seed, self.random = seed, Random(seed)
        self.done: Counter[str] = Counter()
        now = datetime.now(UTC)
        self.challenge = Challenge.objects.create(
            slug=f"history{seed}", title="History", opens_at=now - timedelta(days=1), closes_at=now + timedelta(days=1)
        )
        self.organizer = User.objects.create_user(f"organizer{seed}", f"organizer{seed}@example.org")
        self.challenge.organizers.add(self.organizer)
        track = "openimages-detection"
        self.phase = Phase.objects.create(
            challenge=self.challenge, slug="main", title="Main", track=track, gate_exempt=True, **fields
        )
        self.truths = [self.truth(version) for version in (1, 2, 3)]
        Truth.objects.filter(pk=self.truths[0].pk).update(active=True, used=True)
        self.phase.signature = self.signature(self.truths[0])
        self.phase.save()
        self.teams = [self.team(number) for number in range(TEAMS)]
        # The entries that participants see while the leaderboard is frozen. None if the leaderboard is not frozen.
        self.frozen: Shown | None = None
        self.values: dict[tuple[Any, int], dict[str, float | None]] = {}

    def truth(self, version: int) -> Truth:
        digest = sha256(f"{self.phase.pk} {version}".encode()).hexdigest()
        return Truth.objects.create(phase=self.phase, version=version, sha256=digest)

    def team(self, number: int) -> Team:
        is_baseline = number == 0
        team = Team.objects.create(challenge=self.challenge, name=f"Team {number}", is_baseline=is_baseline)
        if not is_baseline:
            user = User.objects.create_user(f"member{self.seed}-{number}", f"member{self.seed}-{number}@example.org")
            about = {"rules_accepted_at": database_now(), "is_captain": True}
            Membership.objects.create(team=team, challenge=self.challenge, user=user, **about)
        return team

    def signature(self, truth: Truth) -> str:
        track = self.phase.declared_track
        return compose(track, track.resolve(self.phase.parameters), truth.sha256)

    def happen(self) -> str:
        """Carry out a random event. Return its name or, if the service rejected it, the error code."""
        deeds: dict[Callable[[], None], int] = {
            self.record: 30,
            self.reject: 6,
            self.rerun: 40,
            self.choose: 14,
            self.disqualify: 6,
            self.reinstate: 6,
            self.hide: 5,
            self.unhide: 4,
            self.begin_rescoring: 5,
            self.apply_rescoring: 8,
            self.discard_rescoring: 1,
            self.change_finals: 2,
            self.sweep: 4,
            self.rename: 3,
            self.join: 3,
            self.delete_account: 5,
            self.merge: 8,
            self.compare: 6,
            self.freeze: 3,
            self.lift: 2,
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
        """Return the report of a scoring run, which is always the same for the same file and ground truth."""
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
        """Record the result of a random queued rerun, which is a job that scores a submission again.

        The result contains intervals for an existing score or, during a rescoring, a new score.
        """
        queued = list(Rerun.objects.queued().scoring().filter(submission__phase=self.phase).order_by("pk"))
        if not queued:
            return
        found = leases.claim(Rerun, self.random.choice(queued).pk)
        if found is None:  # Another thread has already claimed this job.
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
            by = self.captain(one.team)
            choices.set_final(submission=one, by=by, final=self.random.random() < 0.7)

    def captain(self, team: Team) -> User:
        member = team.memberships.filter(is_captain=True).select_related("user").first()
        if member is None:
            raise Refused("not_found", "the only member has deleted the account")
        return member.user

    def disqualify(self) -> None:
        disqualification.disqualify(team=self.random.choice(self.teams), by=self.organizer, reason="Two accounts")

    def reinstate(self) -> None:
        out = list(Team.objects.filter(challenge=self.challenge).exclude(disqualified_at=None))
        if out:
            disqualification.reinstate(team=self.random.choice(out), by=self.organizer)

    def hide(self) -> None:
        scored = list(Submission.objects.filter(phase=self.phase, status=Status.SCORED))
        if scored:
            hiding.hide(submission=self.random.choice(scored), by=self.organizer)

    def unhide(self) -> None:
        hidden = list(Submission.objects.filter(phase=self.phase).exclude(hidden_at=None))
        if hidden:
            hiding.unhide(submission=self.random.choice(hidden), by=self.organizer)

    def begin_rescoring(self) -> None:
        rescoring.begin(phase=self.current(), by=None, truth=self.random.choice(self.truths))

    def apply_rescoring(self) -> None:
        begun = rescoring.open_rescoring(self.current())
        if begun is None:
            return
        # Each call of `rerun` scores one submission again, if any are left. 20 calls are usually enough for all
        # submissions. If a new score is still missing, the rescoring is not applied.
        for _ in range(20):
            self.rerun()
        rescoring.apply(rescoring=begun, by=None, reveal=True)

    def discard_rescoring(self) -> None:
        rescoring.discard(phase=self.current(), by=None)

    def change_finals(self) -> None:
        phase = self.current()
        phase.finals = self.random.choice((1, 2, 3))
        phase.save(update_fields=["finals"])

    def freeze(self) -> None:
        """Freeze the public leaderboard now. If the leaderboard is already frozen, unfreeze it first."""
        self.lift()
        shown = self.shown()["anybody"]
        self.set_freeze(database_now())
        self.frozen = shown
        self.wait()

    def lift(self) -> None:
        self.set_freeze(None)

    def set_freeze(self, at: datetime | None) -> None:
        phase = self.current()
        phase.freeze_at = at
        phase.save(update_fields=["freeze_at"])
        self.frozen = None

    def sweep(self) -> None:
        """Apply a changed number of final submissions per team to the leaderboards, as the sweeper does."""
        apply_finals()

    def rename(self) -> None:
        """Rename a random team, which may have been merged into another team."""
        team = self.random.choice(list(Team.objects.filter(challenge=self.challenge).order_by("pk")))
        team.name = f"Team {team.pk}, name {sum(self.done.values())}"
        team.save(update_fields=["name", "search_name"])

    def join(self) -> None:
        """Add a team with one member, so that merges and deletions always find teams."""
        self.teams.append(self.team(TEAMS + sum(self.done.values())))

    def delete_account(self) -> None:
        """Delete the account of the only member of a team."""
        member = Membership.objects.filter(team=self.random.choice(self.teams)).select_related("user", "team").first()
        if member is None or member.team.memberships.count() > 1 or len(self.teams) < 3:
            raise Refused("change_refused", "this team stays")
        delete_account(member.user)
        self.teams.remove(member.team)

    def merge(self) -> None:
        """Merge two teams, as their captains do. Leaderboards for earlier times still show both teams."""
        team, other = self.random.sample(self.teams, 2)
        captains = dict(Membership.objects.filter(is_captain=True).values_list("team", "user"))
        if {team.pk, other.pk} <= captains.keys():
            by, decides = (User.objects.get(pk=captains[one.pk]) for one in (team, other))
            merging.confirm(proposal=merging.propose(team=team, other=other, by=by), by=decides)
            self.teams.remove(other)

    def compare(self) -> None:
        """Compute ties and confidence intervals for ranks on all leaderboards, as a worker does."""
        compare_boards()

    def current(self) -> Phase:
        return Phase.objects.get(pk=self.phase.pk)

    def shown(self, *, at: datetime | None = None) -> dict[str, Shown]:
        """Return the leaderboards that visitors and organizers see, as they are now or were at the given time."""
        phase = self.current()
        boards = {"anybody": board(phase, split="public", at=at, viewer=ANYBODY)}
        boards |= {split: board(phase, split=split, at=at, viewer=self.organizer) for split in SPLITS}
        return {
            name: [(row.team_id, row.rank, row.score, row.interval) for row in one.rows] for name, one in boards.items()
        }

    def wrong_names(self, at: datetime) -> list[str]:
        """Return the team names on leaderboards of an earlier time that differ from the teams' current names."""
        names = dict(Team.objects.filter(challenge=self.challenge).values_list("pk", "name"))
        boards = [board(self.current(), split=split, at=at, viewer=self.organizer) for split in SPLITS]
        return [row.team for one in boards for row in one.rows if row.team != names[row.team_id]]

    def moments(self) -> Iterator[datetime]:
        """Yield times of the database clock at which no event happens.

        This method waits before and after each time, because SQLite's clock has a resolution of one millisecond.
        """
        while True:
            self.wait()
            yield database_now()
            self.wait()

    @staticmethod
    def wait() -> None:
        before = database_now()
        while database_now() <= before:
            time.sleep(0.0005)
