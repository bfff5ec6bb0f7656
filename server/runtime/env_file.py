"""Reads the file .env. A file that cannot be read completely is rejected with an error message."""

import os
import re
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

ASSIGNMENT = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)(\s*)=(.*)")
ESCAPED = re.compile(r"\\([^rnt])")


def names_in(path: Path) -> list[str]:
    """Return the names of the variables that a file sets, or an empty list if there is no such file.

    Raises ImproperlyConfigured as `values_in` does.
    """
    return list(values_in(path))


def values_in(path: Path) -> dict[str, str]:
    """Return the values of the variables that a file sets, keyed by name. It is empty if there is no such file.

    A value ends with its line. Spaces at the end and quotes around the value are not part of it.

    Raises ImproperlyConfigured if the file cannot be read, or if a line is neither `NAME=VALUE` nor a comment. The
    message never shows the line, because it may contain a secret.
    """
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path} cannot be read ({error.strerror}): give this user permission to read it, or remove it."
        ) from error
    except UnicodeDecodeError as error:
        raise ImproperlyConfigured(f"{path} is not UTF-8 text: save it as UTF-8.") from error
    found = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        if not (match := ASSIGNMENT.fullmatch(line)):
            raise ImproperlyConfigured(f"{path}, line {number}: expected NAME=VALUE, or a comment that starts with #.")
        name, space, value = match.groups()
        # A shell and Docker Compose read such a line differently, so the value that is meant is not certain.
        if space or value[:1].isspace():
            raise ImproperlyConfigured(f"{path}, line {number}: remove the spaces around the = after {name}.")
        found[name] = unquoted(value)
    return found


def unquoted(value: str) -> str:
    """Return a value without the quotes around it. In double quotes, a backslash before a character is removed."""
    if len(value) < 2 or value[0] != value[-1] or value[0] not in "'\"":
        return value
    inner = value[1:-1]
    return ESCAPED.sub(r"\1", inner) if value[0] == '"' else inner


def read_env_file(path: Path) -> None:
    """Set the environment variables that a file names, except for those that are set already."""
    for name, value in values_in(path).items():
        os.environ.setdefault(name, value)
