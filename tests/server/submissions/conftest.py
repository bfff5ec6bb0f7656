"""Fixtures for stored files to which no database row refers, and for queued jobs."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

from server.challenges.models import Phase, Team
from server.submissions.models import Rerun, Status, Submission
from server.submissions.services import quarantine
from tests.conftest import Make

NOW = datetime.now(UTC)

Storing = Callable[..., Path]


def aged(path: Path, *, hours: float) -> Path:
    os.utime(path, (time.time() - hours * 3600,) * 2)
    return path


@pytest.fixture
def truths(db: None, own_folders: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Use an empty folder for ground truths, because the default folder contains files from other tests."""
    storage = FileSystemStorage(tmp_path / "truths")
    monkeypatch.setattr(quarantine, "truth_storage", lambda: storage)
    (tmp_path / "truths").mkdir()
    return tmp_path / "truths"


@pytest.fixture
def upload(truths: Path) -> Storing:
    """Return a function that stores an uploaded file without a database row: `upload("stray", hours=2)`."""

    def store(name: str = "stray", *, hours: float = 25) -> Path:
        path = Path(default_storage.path(default_storage.save(f"submissions/{name}", ContentFile(b"content"))))
        return aged(path, hours=hours)

    return store


@pytest.fixture
def queued(make: Make, phase: Phase) -> Callable[..., list[Submission]]:
    """Return a function that creates queued submissions, one after the other: `queued(team, 3, small=True)`."""

    def build(team: Team, count: int = 1, **fields: Any) -> list[Submission]:
        begun = Submission.objects.count()
        return [
            make.submission(phase, team, **{"received_at": NOW + timedelta(seconds=begun + number), **fields})
            for number in range(count)
        ]

    return build


@pytest.fixture
def waiting(make: Make, phase: Phase) -> Callable[..., Rerun]:
    """Return a function that creates a scored submission and queues a rerun, which scores it again: `waiting(team)`."""

    def build(team: Team, purpose: str = Rerun.Purpose.INTERVALS, **fields: Any) -> Rerun:
        scored = make.submission(phase, team, status=Status.SCORED, finished_at=NOW, **fields)
        return Rerun.objects.create(submission=scored, truth=phase.truth, purpose=purpose, enqueued_at=NOW)

    return build
