"""Fills a phase with scored submissions of many teams, by a few statements and without an evaluator."""

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

from django.db import transaction

from server.accounts.models import User
from server.challenges.models import Challenge, Membership, Phase, Team, Truth
from server.leaderboards.models import BoardTerms, Entry
from server.leaderboards.services.entries import rebuild
from server.submissions.models import Evaluation, Replicates, Score, Status, Submission

SPLITS = ("public", "private", "all")
REPLICATES, AT_ONCE = 1000, 200
FIRST, LAST = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)


def write(*, teams: int, each: int) -> Phase:
    """Write the rows, then the entries as of half of the submissions and of all, so that there is a history."""
    random = Random(20261121)
    challenge = Challenge.objects.create(slug="crowd", title="Crowd", opens_at=FIRST)
    track = "openimages-detection"
    phase = Phase.objects.create(challenge=challenge, slug="main", title="Main", track=track)
    truth = Truth.objects.create(phase=phase, version=1, sha256="0" * 64, active=True, used=True)
    phase.signature = f"{track}|truth:0"
    phase.save()
    user = User.objects.create_user("reader", "reader@example.org")
    made = Team.objects.bulk_create(Team(challenge=challenge, name=f"Team {number:05}") for number in range(teams))
    middle = made[teams // 2]
    Membership.objects.create(team=middle, challenge=challenge, user=user, rules_accepted_at=FIRST)
    for half, (start, stop) in enumerate(((0, each // 2), (each // 2, each))):
        for some in range(0, teams, AT_ONCE):
            with transaction.atomic():
                score(phase, truth, made[some : some + AT_ONCE], range(start, stop), of=each, random=random)
        rebuild(phase)
        at = FIRST + (LAST - FIRST) * (half + 1) / 2
        Entry.objects.filter(valid_until__gt=LAST + timedelta(days=1)).update(valid_until=at)
        Entry.objects.filter(valid_from__gt=LAST + timedelta(days=1)).update(valid_from=at)
    BoardTerms.objects.filter(phase=phase).update(since=FIRST)
    replicate(phase, random)
    return phase


def score(phase: Phase, truth: Truth, teams: list[Team], numbers: range, *, of: int, random: Random) -> None:
    """Write submissions of some teams, with their evaluations and scores."""
    submissions = Submission.objects.bulk_create(
        Submission(
            **{"phase": phase, "team": team, "file_name": "a.csv", "size_bytes": 1, "sha256": f"{number}"},
            **{"status": Status.SCORED, "received_at": at, "enqueued_at": at, "finished_at": at},
        )
        for team in teams
        for number, at in ((number, FIRST + (LAST - FIRST) * (number + random.random()) / of) for number in numbers)
    )
    common = {"truth": truth, "signature": phase.signature, "evaluator_version": "1", "report": {}, "cpu_seconds": 0.1}
    evaluations = Evaluation.objects.bulk_create(
        Evaluation(submission=one, created_at=one.received_at, **common) for one in submissions
    )
    Score.objects.bulk_create(scores(evaluations, random), batch_size=5000)


def scores(evaluations: list[Evaluation], random: Random) -> Iterator[Score]:
    for evaluation in evaluations:
        value = random.betavariate(5, 5)
        for split in SPLITS:
            yield Score(
                evaluation=evaluation, split=split, metric="mAP", value=value, low=value - 0.01, high=value + 0.01
            )


def replicate(phase: Phase, random: Random) -> None:
    """Write replicates of the public entries, which ties are found by."""
    entries = Entry.objects.present().filter(board__phase=phase, board__kind="public")
    rows = (
        Replicates(
            evaluation_id=entry.evaluation_id,
            split="public",
            seed=0,
            count=REPLICATES,
            values=struct.pack(f"<{REPLICATES}d", *(random.gauss(entry.score, 0.005) for _ in range(REPLICATES))),
        )
        for entry in entries.iterator()
    )
    Replicates.objects.bulk_create(rows, batch_size=100)
