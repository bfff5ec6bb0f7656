"""What the environment tells; a useless value is refused in one sentence that names the setting, never a password."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

DATABASES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
DATABASE_SHAPES = "postgres://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FOLDER/FILE"
NOT_TOLD = environ.Env.NOTSET
PORT_MAX = 65535
BASE_DIR = Path(__file__).resolve().parents[2]


def without_password(url: str) -> str:
    """Return what may be shown of an address: neither who logs in, with what, nor options."""
    before, mark, _ = url.partition("://")
    scheme = before + mark if mark else ""
    return scheme + url.removeprefix(scheme).rpartition("@")[2].partition("?")[0]


class Environment(environ.Env):
    """Reads one setting at a time."""

    def int(self, var: str, default: Any = NOT_TOLD) -> Any:
        try:
            return super().int(var, default=default)
        except ValueError:
            raise ImproperlyConfigured(f"{var}={self.str(var)} is not a whole number: set it to one.") from None

    def port(self, var: str, *, default: Any) -> Any:
        if not 1 <= (number := self.int(var, default=default)) <= PORT_MAX:
            raise ImproperlyConfigured(f"{var}={number} is not a port: set it to a number from 1 to {PORT_MAX}.")
        return number

    def folder(self, var: str, *, default: Path) -> Path:
        """Return a folder of its owner's only; made where it is missing."""
        path = Path(self.str(var, default=str(default))).resolve()
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unusable_folder(var, path, error) from error
        return path

    def database(self, var: str, *, default: str) -> dict[str, Any]:
        told = self.str(var, default="") or default
        found: dict[str, Any] = {}
        if self.DB_SCHEMES.get(told.partition(":")[0]) in DATABASES:  # of any other a warning tells all, passwords too
            with suppress(ValueError):
                found = self.db_url_config(told)
        if not found.get("NAME"):
            shown = without_password(told)
            raise ImproperlyConfigured(f"{var}={shown} is not a database's address: set it to {DATABASE_SHAPES}.")
        return found


def unusable_folder(var: str, path: Path, error: OSError) -> ImproperlyConfigured:
    why = f"{error.strerror}: {error.filename}"
    return ImproperlyConfigured(f"{var}={path} cannot be used ({why}): set it to a folder that this user may write to.")


env = Environment()
Environment.read_env(BASE_DIR / ".env")  # for developers; a real variable wins
