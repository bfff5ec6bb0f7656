"""Fixtures for scored submissions. They write the rows that a worker would write."""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches

from server.challenges.models import Phase, Team, Truth
from server.leaderboards.models import BoardTerms, Entry
from server.leaderboards.services.entries import rebuild
from server.organize.services import truths
from server.submissions.models import Evaluation, Explanation, Replicates, Score, Status, Submission
from server.submissions.signals import announce
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.lock_order import lock_order_checked

Number = float | None
Scored = Callable[..., Submission]


def evaluate(submission: Submission, splits: dict[str, dict[str, Number]], **fields: Any) -> Evaluation:
    """Create an evaluation with the given scores by split and metric; `fields` override the default values."""
    interval = fields.pop("interval", (None, None))
    evaluation = Evaluation.objects.create(
        **{
            "submission": submission,
            "truth": submission.phase.truths.get(active=True),
            "evaluator_version": "1.0.0",
            "signature": submission.phase.signature,
            "report": {},
            "cpu_seconds": 0.1,
            "created_at": datetime.now(UTC),
            **fields,
        }
    )
    Score.objects.bulk_create(
        Score(evaluation=evaluation, split=split, metric=name, value=value, low=interval[0], high=interval[1])
        for split, metrics in splits.items()
        for name, value in metrics.items()
    )
    announce(submission.phase, [submission.team_id], evaluation.signature)
    return evaluation


def refresh_boards() -> None:
    """Rebuild all leaderboards. Call this after writing rows directly instead of through the services."""
    for phase in Phase.objects.all():
        rebuild(phase)


def backdate(evaluation: Evaluation, at: datetime) -> None:
    """Set all times of an evaluation and of its leaderboard entries to `at`, as if it had been recorded then."""
    Evaluation.objects.filter(pk=evaluation.pk).update(created_at=at)
    BoardTerms.objects.filter(phase=evaluation.submission.phase, since__gt=at).update(since=at)
    for entry in evaluation.entries.all():
        previous = Entry.objects.filter(board=entry.board, team=entry.team, valid_until=entry.valid_from)
        previous.update(valid_until=at)
        Entry.objects.filter(pk=entry.pk).update(valid_from=at)


@pytest.fixture
def scored(make: Make) -> Scored:
    """Return a function that creates a scored submission: `scored(phase, 0.5, team=team, private=0.4, at=…)`."""

    def score(
        phase: Phase, public: Number, *, team: Team | None = None, private: Number = None, **fields: Any
    ) -> Submission:
        at = fields.pop("at", None)
        now = at or datetime.now(UTC)
        extra = {name: fields.pop(name) for name in ("interval", "report", "signature", "truth") if name in fields}
        headline = phase.declared_track.headline
        splits = {"public": {headline: public}, "all": {headline: public}}
        if private is not None:
            splits["private"] = {headline: private}
        splits = fields.pop("splits", splits)
        submission: Submission = make.submission(
            phase,
            team,
            **{"status": Status.SCORED, "received_at": now, "enqueued_at": now, "finished_at": now, **fields},
        )
        evaluation = evaluate(submission, splits, **extra)
        if at:
            backdate(evaluation, at)
        return submission

    return score


def explain(submission: Submission, content: dict[str, Any]) -> None:
    """Store an explanation of a submission's scores (such as error kinds), which is the same for all splits."""
    packed = zlib.compress(json.dumps(content).encode())
    for split in ("public", "private", "all"):
        Explanation.objects.create(evaluation=submission.evaluations.get(), split=split, content=packed)


@pytest.fixture(autouse=True)
def fresh_counts() -> None:
    """Reset the request counters of rate limits, and clear the leaderboard caches, before each test."""
    caches["requests"].clear()
    caches["boards"].clear()
    caches["history"].clear()
    caches["past"].clear()
    caches["status"].clear()


@pytest.fixture(autouse=True)
def locks_in_order() -> Iterator[None]:
    """Let tests fail if a transaction locks a leaderboard after it has written an audit entry."""
    with lock_order_checked():
        yield


@pytest.fixture(autouse=True)
def no_images_in_empty_truths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make empty ground truth files, such as those from `make.phase`, pass the check for newly public images.

    Normally, a new ground truth is rejected if it makes private images public.
    """
    compare = truths.newly_public

    def newly_public(active: Truth, later: Truth | Path) -> int:
        is_empty = not isinstance(later, Path) and not later.prepared.size
        return 0 if is_empty or not active.prepared.size else compare(active, later)

    monkeypatch.setattr(truths, "newly_public", newly_public)


@pytest.fixture
def api(db: None) -> Api:
    """Return a client for the API that checks each response against the published schema: `api.get(path, user=…)`."""
    return Api()


@pytest.fixture
def replicated(scored: Scored) -> Callable[..., Submission]:
    """Return a function that creates a scored submission: `replicated(phase, [0.4, 0.6])`.

    The list contains the bootstrap replicates of its public score. The score itself is their mean.
    """

    def score(phase: Phase, values: list[float], *, seed: int = 0, **fields: Any) -> Submission:
        submission = scored(phase, sum(values) / len(values), interval=(min(values), max(values)), **fields)
        packed = struct.pack(f"<{len(values)}d", *values)
        vector = {"split": "public", "seed": seed, "count": len(values), "values": packed}
        Replicates.objects.create(evaluation=submission.evaluations.get(), **vector)
        return submission

    return score
