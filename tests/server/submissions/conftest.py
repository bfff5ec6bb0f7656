"""Fixtures for stored files to which no database row refers."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage

from server.submissions.services import quarantine

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
