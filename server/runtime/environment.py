"""Reads settings from environment variables. An invalid value is rejected with a message that names the setting."""

import errno
import os
import re
from collections.abc import Collection
from contextlib import suppress
from email.utils import parseaddr
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from redis.connection import parse_url

from server.runtime.env_file import read_env_file
from server.stored_files.address import ObjectStore, parsed

Network = IPv4Network | IPv6Network

DATABASES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
# With these options, both ends of a connection to PostgreSQL notice within about 10 seconds that the other host cannot
# be reached or has lost power. By default, the server may need two hours to notice. Until then, it keeps the locks of
# an open transaction, and all uploads to a phase may have to wait for them.
SILENT_SECONDS = 10
POSTGRESQL: dict[str, Any] = {
    "connect_timeout": SILENT_SECONDS,
    "keepalives_idle": 4,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": SILENT_SECONDS * 1000,
    "options": "-c tcp_keepalives_idle=4 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3 "
    f"-c tcp_user_timeout={SILENT_SECONDS}s",
}
DATABASE_SHAPES = "postgres://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FOLDER/FILE"
REDIS_SHAPES = "redis://:PASSWORD@HOST:PORT/NUMBER or unix:///FOLDER/redis.sock"
STORAGE_SHAPES = "s3://KEY:SECRET@HOST:PORT/BUCKET, with ?region=NAME, tls=false or ca=FILE if needed"
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
PORT_MAX = 65535
KEY_MIN_CHARACTERS = 32
SHOWN_CHARACTERS = 200
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,30}")
LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
# A host name has at most 253 characters, and the last of its dot-separated parts cannot be a number.
HOST_NAME = re.compile(rf"(?=.{{1,253}}$)({LABEL}\.)*(?![0-9]+$){LABEL}")
BASE_DIR = Path(__file__).resolve().parents[2]


def without_password(url: str) -> str:
    """Return a URL without user, password and options, so that it can be displayed."""
    before, mark, _ = url.partition("://")
    scheme = before + mark if mark else ""
    return scheme + url.removeprefix(scheme).rpartition("@")[2].partition("?")[0]


def is_host(text: str) -> bool:
    """Return whether a text is a host name, an IPv4 address, or an IPv6 address in brackets."""
    if HOST_NAME.fullmatch(text):
        return True
    has_brackets = text.startswith("[") and text.endswith("]")
    with suppress(ValueError):
        return ip_address(text[1:-1] if has_brackets else text).version == (6 if has_brackets else 4)
    return False


def shortened(value: object) -> str:
    text = str(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def refuse(var: str, value: object, allowed: str) -> NoReturn:
    raise ImproperlyConfigured(f"{var}={shortened(value)} cannot be used: set it to {allowed}.")


def refuse_unless_mail_backend(var: str, path: str) -> None:
    """Raise ImproperlyConfigured unless the value is the import path of a class that sends emails."""
    # For a malformed import path such as `.x`, `import_string` raises ValueError or TypeError.
    with suppress(ImportError, ValueError, TypeError):
        if hasattr(import_string(path), "send_messages"):
            return
    refuse(var, path, "the path of an email backend, such as django.core.mail.backends.smtp.EmailBackend")


class Environment:
    """A reader of settings in environment variables.

    If a variable is empty or missing, its default is used without validation.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()  # the names of all settings that have been read

    def text(self, var: str, *, default: str = "") -> str:
        self.names.add(var)
        return os.environ.get(var) or default

    def number(self, var: str, *, default: int, low: int = 1, high: int) -> int:
        if not (value := self.text(var)):
            return default
        number = int(value) if WHOLE_NUMBER.fullmatch(value) else None
        if number is None or not low <= number <= high:
            refuse(var, value, f"a whole number from {low} to {high}")
        return number

    def port(self, var: str, *, default: int) -> int:
        return self.number(var, default=default, high=PORT_MAX)

    def switch(self, var: str, *, default: bool) -> bool:
        value = self.text(var)
        if value.lower() not in (*YES, *NO, ""):
            refuse(var, value, "true or false")
        return value.lower() in YES if value else default

    def choice(self, var: str, *, default: str, among: Collection[str]) -> str:
        value = self.text(var, default=default).upper()
        return value if value in among else refuse(var, self.text(var), f"one of {', '.join(among)}")

    def subset(self, var: str, *, among: Collection[str]) -> list[str]:
        """Return the names in a comma-separated list, or all possible names if the setting is empty."""
        values = [name.strip() for name in self.text(var, default=",".join(among)).split(",")]
        if not set(values) <= set(among):
            refuse(var, self.text(var), f"one or more of {', '.join(among)}, separated by commas")
        return values

    def key(self, var: str) -> str:
        """Return a secret key, or an empty string if it is not set. Error messages never show the key."""
        value = self.text(var)
        if value and len(value.strip()) < KEY_MIN_CHARACTERS:
            allowed = f"{KEY_MIN_CHARACTERS} or more random characters"
            raise ImproperlyConfigured(f"{var} is too short: set it to {allowed}, or leave it out.")
        return value

    def keys(self, var: str) -> list[str]:
        """Return the secret keys in a comma-separated list. Error messages never show a key."""
        text = self.text(var)
        values = [value.strip() for value in text.split(",")] if text else []
        if any(len(value) < KEY_MIN_CHARACTERS for value in values):
            raise ImproperlyConfigured(f"{var} has a key that is too short: set it to earlier values of SECRET_KEY.")
        return values

    def bind(self, var: str, *, default: str) -> str:
        """Return the address to listen on: an IPv4 address or a host name."""
        value = self.text(var, default=default)
        return value if is_host(value) and "[" not in value else refuse(var, value, "127.0.0.1 or 0.0.0.0")

    def host(self, var: str, *, default: str) -> str:
        value = self.text(var, default=default)
        return value if is_host(value) else refuse(var, value, "a host name or address, without scheme and port")

    def hosts(self, var: str, *, default: list[str]) -> list[str]:
        """Return the allowed values of the Host header. `.example.org` includes subdomains, and `*` allows any host."""
        values = [host.strip() for host in self.text(var).split(",") if host.strip()]
        for host in values:
            if host != "*" and not is_host(host.removeprefix(".")):
                refuse(var, self.text(var), "host names or addresses, separated by commas")
        return values or default

    def networks(self, var: str) -> list[Network]:
        """Return the IP addresses and networks in the comma-separated list that an environment variable contains."""
        text = self.text(var)
        with suppress(ValueError):
            return [ip_network(value.strip()) for value in text.split(",")] if text else []
        refuse(var, text, "addresses or networks, separated by commas, such as 10.0.0.0/8,::1")

    def site(self, var: str, *, default: str) -> str:
        """Return the URL of the service from an environment variable, without a trailing slash."""
        url = self.text(var, default=default).removesuffix("/")
        with suppress(ValueError):
            parts = urlsplit(url)
            host = parts.netloc.removesuffix(f":{parts.port}")
            if parts.scheme in ("http", "https") and url == f"{parts.scheme}://{parts.netloc}" and is_host(host):
                return url
        refuse(var, without_password(url), "http://HOST, http://HOST:PORT or the same with https")

    def mail_address(self, var: str, *, default: str) -> str:
        if not (value := self.text(var)):
            return default
        name, _, host = parseaddr(value)[1].rpartition("@")
        return (
            value
            if name and is_host(host) and value.isprintable()
            else refuse(var, value, "an address such as Podium <podium@example.org>")
        )

    def folder(self, var: str, *, default: Path) -> Path:
        """Return the folder that an environment variable names. If it is missing, it is created with mode 700."""
        path = Path(self.text(var, default=str(default)))
        try:
            path = path.resolve()
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unusable_folder(var, path, error) from error
        return path

    def broker(self, var: str) -> str:
        """Return the URL of a Redis server, or an empty string if it is not set."""
        url = self.text(var)
        with suppress(ValueError):
            if url:
                parse_url(url)
            return url
        refuse(var, without_password(url), REDIS_SHAPES)

    def object_store(self, var: str) -> ObjectStore | None:
        """Return the object store at the URL in a variable, or None if the variable is not set.

        Error messages do not contain the key pair in the URL.
        """
        url = self.text(var)
        with suppress(ValueError):
            return parsed(url) if url else None
        refuse(var, without_password(url), STORAGE_SHAPES)

    def database(self, var: str, *, default: str) -> dict[str, Any]:
        url = self.text(var, default=default)
        found: dict[str, Any] = {}
        # The scheme of the URL is checked first, because for an unknown scheme, django-environ would print the URL's
        # password in a warning.
        if environ.Env.DB_SCHEMES.get(url.partition(":")[0]) in DATABASES:
            with suppress(ValueError):
                found = environ.Env.db_url_config(url)
        if found.get("ENGINE") == DATABASES[0]:
            found["OPTIONS"] = POSTGRESQL | found.get("OPTIONS", {})
        return found if found.get("NAME") else refuse(var, without_password(url), DATABASE_SHAPES)


def usable_subfolder(path: Path) -> Path:
    """Return a folder that only its owner can access. It is created if it is missing.

    Raises PermissionError if this user cannot write to it, for example because root has created it.
    """
    path.mkdir(mode=0o700, exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return path


def unusable_folder(var: str, path: Path, error: OSError) -> ImproperlyConfigured:
    problem = f"{var}={shortened(path)} cannot be used ({error.strerror}: {shortened(error.filename)})"
    return ImproperlyConfigured(f"{problem}: set it to a folder that this user can write to.")


env = Environment()
ENV_FILE = BASE_DIR / ".env"
read_env_file(ENV_FILE)  # Environment variables that are already set take precedence over the `.env` file.
