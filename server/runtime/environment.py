"""Reads settings from environment variables. An invalid value is rejected with a message that names the setting."""

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

Network = IPv4Network | IPv6Network

DATABASES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
DATABASE_SHAPES = "postgres://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FOLDER/FILE"
REDIS_SHAPES = "redis://:PASSWORD@HOST:PORT/NUMBER or unix:///FOLDER/redis.sock"
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
PORT_MAX = 65535
KEY_MIN_CHARACTERS = 32
SHOWN_CHARACTERS = 200
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,30}")
LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
# The last of the dot-separated parts of a host name cannot be a number.
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
    with suppress(ImportError, ValueError, TypeError):  # An import path like `.x` raises ValueError or TypeError.
        if hasattr(import_string(path), "send_messages"):
            return
    refuse(var, path, "the path of an email backend, such as django.core.mail.backends.smtp.EmailBackend")


class Environment:
    """A reader of settings in environment variables.

    If a variable is empty or missing, its default is used without validation.
    """

    def text(self, var: str, *, default: str = "") -> str:
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

    def key(self, var: str) -> str:
        """Return a secret key, or an empty string if it is not set. Error messages never show the key."""
        value = self.text(var)
        if value and len(value.strip()) < KEY_MIN_CHARACTERS:
            allowed = f"{KEY_MIN_CHARACTERS} or more random characters"
            raise ImproperlyConfigured(f"{var} is too short: set it to {allowed}, or leave it out.")
        return value

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
        """Return a folder that only its owner can access. It is created if it is missing."""
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

    def database(self, var: str, *, default: str) -> dict[str, Any]:
        url = self.text(var, default=default)
        found: dict[str, Any] = {}
        # For an unknown scheme, the library would print a warning that contains the whole URL, including the password.
        if environ.Env.DB_SCHEMES.get(url.partition(":")[0]) in DATABASES:
            with suppress(ValueError):
                found = environ.Env.db_url_config(url)
        return found if found.get("NAME") else refuse(var, without_password(url), DATABASE_SHAPES)


def unusable_folder(var: str, path: Path, error: OSError) -> ImproperlyConfigured:
    problem = f"{var}={shortened(path)} cannot be used ({error.strerror}: {shortened(error.filename)})"
    return ImproperlyConfigured(f"{problem}: set it to a folder that this user may write to.")


env = Environment()
# The file .env is meant for developers. Environment variables take precedence over it.
environ.Env.read_env(BASE_DIR / ".env")
