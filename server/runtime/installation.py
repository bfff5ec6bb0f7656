"""What an installation keeps in PODIUM_HOME: its keys, and a note of what runs. The settings read it at start."""

import json
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path


def key_in(path: Path) -> str:
    """Return a key of this installation; made once, readable by its owner only."""
    if not path.exists():
        descriptor, whole = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
        with suppress(FileExistsError):  # another process was first; nobody ever reads half a key
            os.link(whole, path)
        os.unlink(whole)
    return path.read_text()


def running(note: Path) -> dict[str, str]:
    """Return what the running service notes of itself: its address and that of its Redis.

    It is empty where none runs, and where the note is damaged: the next `manage.py up` writes it anew.
    """
    try:
        noted = json.loads(note.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {name: str(value) for name, value in noted.items()} if isinstance(noted, dict) else {}
