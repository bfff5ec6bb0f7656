"""Stores server URLs, tokens and interrupted uploads in a configuration folder that only the user can read."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from evaluator.client.errors import NotUsable

LOCAL = ("localhost", "127.0.0.1", "::1")


def folder() -> Path:
    """Return the path of the client's configuration folder."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "podium"


def normalized(address: str) -> str:
    """Return the URL of a server without a trailing slash.

    If ``address`` has no scheme, the scheme is ``http`` for this machine, and ``https`` for all others.

    Raises
    ------
    NotUsable
        If ``address`` is not the URL of a website, or if it contains a username, a query or a fragment.

    Examples
    --------
    >>> normalized("podium.example.org/")
    'https://podium.example.org'
    >>> normalized("localhost:8000")
    'http://localhost:8000'
    """
    text = address.strip()
    if "://" not in text:
        text = f"{'http' if text.partition('/')[0].rpartition(':')[0] in LOCAL or text in LOCAL else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and text.isascii() and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in parts.netloc or parts.query or parts.fragment or not text.isprintable() or " " in text:
        raise NotUsable(f"{address!r} is not the address of a server; write it as https://podium.example.org")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def chosen(option: str | None) -> str:
    """Return the URL of the server given by ``--server`` or ``PODIUM_SERVER``, or of the server of the last login.

    Raises
    ------
    NotUsable
    """
    address = option or os.environ.get("PODIUM_SERVER") or _read("last")
    if not address:
        raise NotUsable(
            "no server is specified; log in with `podium login URL`, use --server URL, or set PODIUM_SERVER"
        )
    return normalized(address)


def token_of(server: str) -> str:
    """Return the token in ``PODIUM_TOKEN`` or the stored token for a server; an empty string if there is no token."""
    return os.environ.get("PODIUM_TOKEN", "").strip() or _read(f"tokens/{_name(server)}")


def remember(server: str, token: str) -> Path:
    """Store the token for a server, and make this server the default for later commands."""
    path = _write(f"tokens/{_name(server)}", token)
    _write("last", server)
    return path


def forget(server: str) -> None:
    """Remove the stored token for a server."""
    (folder() / "tokens" / _name(server)).unlink(missing_ok=True)


def remembered_upload(key: str) -> dict[str, Any] | None:
    """Return the stored state of an interrupted upload, or None if there is none."""
    try:
        found = json.loads(_read(f"uploads/{key}") or "null")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def remember_upload(key: str, about: dict[str, Any] | None) -> None:
    """Store ``about``, the state of an upload, so that the upload can be resumed. None deletes the stored state."""
    if about is None:
        (folder() / "uploads" / key).unlink(missing_ok=True)
    else:
        _write(f"uploads/{key}", json.dumps(about))


def _name(server: str) -> str:
    return quote(server, safe="")


def _read(name: str) -> str:
    try:
        return (folder() / name).read_text().strip()
    except FileNotFoundError:
        return ""


def _write(name: str, text: str) -> Path:
    path = folder() / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f".{os.getpid()}.new")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text + "\n")
    partial.replace(path)
    return path
