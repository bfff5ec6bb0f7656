"""What an installation keeps in PODIUM_HOME: its keys, and a note of what runs. The settings read it at start."""

import json
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from server.runtime.environment import KEY_MIN_CHARACTERS


def key_in(path: Path, *, used_for: Path | None = None) -> str:
    """Return a key of this installation; made once, readable by its owner only.

    A missing key is not replaced where the file `used_for` shows that it was used: a new one would verify nothing.
    Raises ImproperlyConfigured then, and for a key that is empty or cut off.
    """
    if not path.exists():
        if used_for is not None and used_for.exists():
            raise ImproperlyConfigured(
                f"{path} is missing, and {used_for} shows that it was used: put it back from a backup. If it is lost, "
                f"move {used_for.name} away: a new key is made, and nothing that the old one signed can be verified."
            )
        make_key(path)
    key = path.read_text(errors="replace")
    if len(key.strip()) < KEY_MIN_CHARACTERS:
        raise ImproperlyConfigured(
            f"{path} is damaged, it has fewer than {KEY_MIN_CHARACTERS} characters: put it back from a backup."
        )
    return key


def make_key(path: Path) -> None:
    descriptor, whole = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(50))
    with suppress(FileExistsError):  # another process was first; nobody ever reads half a key
        os.link(whole, path)
    os.unlink(whole)


def running(note: Path) -> dict[str, str]:
    """Return what the running service notes of itself: its address and that of its Redis.

    It is empty where none runs, and where the note is damaged: the next `manage.py up` writes it anew.
    """
    try:
        noted = json.loads(note.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {name: str(value) for name, value in noted.items()} if isinstance(noted, dict) else {}
