"""Reads the file .env. A file that cannot be read completely is rejected with an error message."""

import re
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured

ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=")


def names_in(path: Path) -> list[str]:
    """Return the names of the variables that a file sets, or an empty list if there is no such file.

    Raises ImproperlyConfigured if the file cannot be read, or if a line is neither `NAME=VALUE` nor a comment. The
    message never shows the line, because it may contain a secret.
    """
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path} cannot be read ({error.strerror}): give this user permission to read it, or remove it."
        ) from error
    except UnicodeDecodeError as error:
        raise ImproperlyConfigured(f"{path} is not UTF-8 text: save it as UTF-8.") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not (match := ASSIGNMENT.match(line)):
            raise ImproperlyConfigured(f"{path}, line {number}: expected NAME=VALUE, or a comment that starts with #.")
        found.append(match[1])
    return found


def read_env_file(path: Path) -> None:
    """Set the environment variables that a file names, except for those that are set already."""
    if names_in(path):
        environ.Env.read_env(path)
