"""Files in PODIUM_HOME that the settings read at start: secret keys, and the URLs of the running service."""

import json
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from server.runtime.environment import KEY_MIN_CHARACTERS


def key_in(path: Path, *, used_for: Path | None = None) -> str:
    """Return the secret key in a file. The file is created if needed, and only its owner can read it.

    Raises ImproperlyConfigured if the key is empty or truncated, or if it is missing although the file `used_for` shows
    that it has been used. A new key could not verify data signed with the old one.
    """
    if not path.exists():
        if used_for is not None and used_for.exists():
            raise ImproperlyConfigured(
                f"{path} is missing, and {used_for} shows that it was used. Restore the key from a backup. If the key "
                "is lost, "
                f"move {used_for.name} away. A new key is then created, but data that the old key signed can no longer "
                "be verified."
            )
        make_key(path)
    key = path.read_text(errors="replace")
    if len(key.strip()) < KEY_MIN_CHARACTERS:
        raise ImproperlyConfigured(
            f"{path} is damaged: it has fewer than {KEY_MIN_CHARACTERS} characters. Restore it from a backup."
        )
    return key


def make_key(path: Path) -> None:
    descriptor, complete = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(50))
    # If another process has already created the key file, that file contains a complete key.
    with suppress(FileExistsError):
        os.link(complete, path)
    os.unlink(complete)


def running(note: Path) -> dict[str, str]:
    """Return the URLs and the process id of the running service from the file that `manage.py up` writes.

    The result is empty if the file is missing or damaged. The next `manage.py up` writes the file again.
    """
    try:
        content = json.loads(note.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {name: str(value) for name, value in content.items()} if isinstance(content, dict) else {}
