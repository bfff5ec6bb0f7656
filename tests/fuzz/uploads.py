"""Submits damaged files. Each must be accepted, claimed by a worker, and then either scored or rejected."""

import os
import random
from collections import Counter
from functools import cache
from tempfile import mkdtemp
from typing import Any

import django
from django.apps import apps

# Child processes of `make fuzz`, which do not run pytest, use a separate database.
if not apps.ready:
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    os.environ["DATABASE_URL"] = f"sqlite:///{mkdtemp()}/fuzz.sqlite3"
    django.setup()

from django.core.files.base import ContentFile
from django.core.management import call_command

from evaluator.truth import Truth
from server.challenges.models import Phase
from server.errors import Refused
from server.submissions import queue
from server.submissions.models import Score, Status, Submission
from server.submissions.services import intake
from tests.conftest import InlineHeartbeat, Make
from tests.fuzz import files
from worker import tasks

PHASES = 8  # Number of phases that are created for each track.
ANY_NUMBER = 1_000_000
NAMES = [
    "mine.csv",
    "",
    "a/b\\c.csv.gz",
    "\u202egnp.csv",
    "ﬁle\0.csv",
    "x" * 300,
    "🙂",
    " ",
    "..",
    "con.csv",
    "<b>.csv",
]


class Site:
    """Phases for every track, and a user who submits files to them."""

    def __init__(self, make: Make) -> None:
        self.user = make.user()
        self.phases = {
            track: [self._phase(make, track, number) for number in range(PHASES)] for track in files.PARAMETERS
        }
        self.teams = {phase: make.team(phase.challenge, self.user) for each in self.phases.values() for phase in each}

    def _phase(self, make: Make, track: str, number: int) -> Phase:
        known = files.PARAMETERS[track]
        parameters = known[number % len(known)]
        phase = make.phase(
            track=track, parameters=parameters, quota_per_day=ANY_NUMBER, attempts_per_day=ANY_NUMBER, quota_total=None
        )
        prepared = files.truth(track, number)
        make.truth(phase, content=prepared.read_bytes(), sha256=Truth.load(prepared).sha256)
        return Phase.objects.get(pk=phase.pk)

    def answers(self, seed: int) -> tuple[Counter[str], list[str]]:
        """Submit and score the file generated from a seed. Return counts by status and defect code, and failures."""
        case, chance = files.drawn(seed), random.Random(seed)
        phase = chance.choice(self.phases[case.track])
        file = ContentFile(case.content, chance.choice(NAMES))
        try:
            submission = intake.submit(user=self.user, team=self.teams[phase], phase=phase, file=file)
        except Refused as refusal:
            # Two seeds may generate identical files, and the second of two identical files is rejected.
            if refusal.code != "duplicate_file":
                raise
            return Counter([refusal.code]), []
        tasks.evaluate(str(submission.pk))
        counts, wrong = ended(Submission.objects.get(pk=submission.pk))
        return counts, [f"upload of seed {seed} ({files.keep(case)}) {failure}" for failure in wrong]


def ended(submission: Submission) -> tuple[Counter[str], list[str]]:
    """Return a counter with the status and the defect codes of a submission, each counted once.

    Also return a list with a message if the status contradicts the defects or the scores.
    """
    scores = Score.objects.filter(evaluation__submission=submission).count()
    total, codes = submission.problems.get("total", 0), submission.problems.get("counts", {})
    sound = {Status.SCORED: scores > 0 == total, Status.REJECTED: total > 0 == scores}.get(submission.status, False)
    wrong = f"is {submission.status} with {scores} scores and {total} defects: {submission.failure}"
    return Counter([submission.status, *codes]), [] if sound else [wrong]


@cache
def site() -> Site:
    """Return this process's test phases and test user, which the first call creates in the database."""
    call_command("migrate", verbosity=0)
    unannounced: Any = lambda kind, key: None  # noqa: E731
    queue.enqueue, tasks.Heartbeat = unannounced, InlineHeartbeat  # type: ignore[misc]
    return Site(Make())


def answers(seed: int) -> tuple[Counter[str], list[str]]:
    """Submit and score the file generated from a seed, using the test phases of this process."""
    return site().answers(seed)
