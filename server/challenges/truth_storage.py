"""The file storage for ground truths, and the names of their files."""

import secrets
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.db.models import Model


def truth_storage() -> FileSystemStorage:
    """Return the file storage for ground truths. It is separate from uploads, and its files have no URLs."""
    return FileSystemStorage(location=settings.TRUTH_ROOT, base_url=None, file_permissions_mode=0o600)


def truth_key(truth: Model, name: str) -> str:
    """Return a random name for a file of a ground truth, which nobody can guess. The file extensions are kept."""
    return f"{secrets.token_hex(16)}{''.join(Path(name).suffixes)}"
