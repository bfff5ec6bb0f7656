"""The storage backend for ground truths, the names of their files, and a dict of all storage backends."""

import secrets
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage, Storage, default_storage
from django.db.models import Model
from django.utils.module_loading import import_string


def truth_storage() -> Storage:
    """Return the storage backend for ground truths. It is separate from uploads, and its files have no URLs.

    The packages for an object store are loaded only if one is configured.
    """
    if settings.OBJECT_STORE:
        storage: Storage = import_string("server.stored_files.objects.ObjectStorage")(folder="truths")
        return storage
    return FileSystemStorage(location=settings.TRUTH_ROOT, base_url=None, file_permissions_mode=0o600)


def storages() -> dict[str, Storage]:
    """Return all storage backends of the service, keyed by the names of their folders."""
    return {"uploads": default_storage, "truths": truth_storage()}


def truth_key(truth: Model, name: str) -> str:
    """Return an unguessable random name for a ground truth file, with the file extensions of the original name."""
    return f"{secrets.token_hex(16)}{''.join(Path(name).suffixes)}"
