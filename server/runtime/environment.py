"""Reads the settings from the environment. A useless value is refused in one sentence that names the setting."""

import os
import re
from collections.abc import Collection
from contextlib import suppress
from email.utils import parseaddr
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from redis.connection import parse_url

DATABASES = ("django.db.backends.postgresql", "django.db.backends.sqlite3")
DATABASE_SHAPES = "postgres://USER:PASSWORD@HOST:PORT/NAME or sqlite:////FOLDER/FILE"
REDIS_SHAPES = "redis://:PASSWORD@HOST:PORT/NUMBER or unix:///FOLDER/redis.sock"
YES, NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
PORT_MAX = 65535
KEY_MIN_CHARACTERS = 32
SHOWN_CHARACTERS = 200
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,30}")
LABEL = r"[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
HOST_NAME = re.compile(rf"(?=.{{1,253}}$)({LABEL}\.)*(?![0-9]+$){LABEL}")  # the last part of a name is never a number
BASE_DIR = Path(__file__).resolve().parents[2]


def without_password(url: str) -> str:
    """Return what may be shown of an address: neither who logs in, with what, nor options."""
    before, mark, _ = url.partition("://")
    scheme = before + mark if mark else ""
    return scheme + url.removeprefix(scheme).rpartition("@")[2].partition("?")[0]


def is_host(text: str) -> bool:
    """Whether this is a host's name, an IPv4 address, or an IPv6 address in brackets."""
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
    """Raise ImproperlyConfigured where this is not the path of a class that sends mails."""
    with suppress(ImportError, ValueError, TypeError):  # the last two: for a path such as .x
        if hasattr(import_string(path), "send_messages"):
            return
    refuse(var, path, "the path of a mail backend, such as django.core.mail.backends.smtp.EmailBackend")


class Environment:
    """Reads one setting at a time. An empty value means the default, which is used as it is."""

    def text(self, var: str, *, default: str = "") -> str:
        return os.environ.get(var) or default

    def number(self, var: str, *, default: int, low: int = 1, high: int) -> int:
        if not (told := self.text(var)):
            return default
        number = int(told) if WHOLE_NUMBER.fullmatch(told) else None
        if number is None or not low <= number <= high:
            refuse(var, told, f"a whole number from {low} to {high}")
        return number

    def port(self, var: str, *, default: int) -> int:
        return self.number(var, default=default, high=PORT_MAX)

    def switch(self, var: str, *, default: bool) -> bool:
        told = self.text(var)
        if told.lower() not in (*YES, *NO, ""):
            refuse(var, told, "true or false")
        return told.lower() in YES if told else default

    def choice(self, var: str, *, default: str, among: Collection[str]) -> str:
        told = self.text(var, default=default).upper()
        return told if told in among else refuse(var, self.text(var), f"one of {', '.join(among)}")

    def key(self, var: str) -> str:
        """Return a secret key, or nothing. Its value is never shown."""
        told = self.text(var)
        if told and len(told.strip()) < KEY_MIN_CHARACTERS:
            many = f"{KEY_MIN_CHARACTERS} or more random characters"
            raise ImproperlyConfigured(f"{var} is too short: set it to {many}, or leave it out.")
        return told

    def bind(self, var: str, *, default: str) -> str:
        """Return where to listen: an IPv4 address or a host's name."""
        told = self.text(var, default=default)
        return told if is_host(told) and "[" not in told else refuse(var, told, "127.0.0.1 or 0.0.0.0")

    def host(self, var: str, *, default: str) -> str:
        told = self.text(var, default=default)
        return told if is_host(told) else refuse(var, told, "a host's name or address, without scheme and port")

    def hosts(self, var: str, *, default: list[str]) -> list[str]:
        """Return what a request's Host may be; `.example.org` includes all names below it, `*` is any."""
        told = [host.strip() for host in self.text(var).split(",") if host.strip()]
        for host in told:
            if host != "*" and not is_host(host.removeprefix(".")):
                refuse(var, self.text(var), "names or addresses of hosts with commas between them")
        return told or default

    def site(self, var: str, *, default: str) -> str:
        """Return the address of the service, without a slash at its end."""
        told = self.text(var, default=default).removesuffix("/")
        with suppress(ValueError):
            parts = urlsplit(told)
            host = parts.netloc.removesuffix(f":{parts.port}")
            if parts.scheme in ("http", "https") and told == f"{parts.scheme}://{parts.netloc}" and is_host(host):
                return told
        refuse(var, without_password(told), "http://HOST, http://HOST:PORT or the same with https")

    def mail_address(self, var: str, *, default: str) -> str:
        if not (told := self.text(var)):
            return default
        name, _, host = parseaddr(told)[1].rpartition("@")
        return (
            told
            if name and is_host(host) and told.isprintable()
            else refuse(var, told, "an address such as Podium <podium@example.org>")
        )

    def folder(self, var: str, *, default: Path) -> Path:
        """Return a folder of its owner's only; made where it is missing."""
        path = Path(self.text(var, default=str(default)))
        try:
            path = path.resolve()
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise unusable_folder(var, path, error) from error
        return path

    def broker(self, var: str) -> str:
        """Return the address of a Redis, or nothing."""
        told = self.text(var)
        with suppress(ValueError):
            if told:
                parse_url(told)
            return told
        refuse(var, without_password(told), REDIS_SHAPES)

    def database(self, var: str, *, default: str) -> dict[str, Any]:
        told = self.text(var, default=default)
        found: dict[str, Any] = {}
        if environ.Env.DB_SCHEMES.get(told.partition(":")[0]) in DATABASES:  # of any other a warning shows all of it
            with suppress(ValueError):
                found = environ.Env.db_url_config(told)
        return found if found.get("NAME") else refuse(var, without_password(told), DATABASE_SHAPES)


def unusable_folder(var: str, path: Path, error: OSError) -> ImproperlyConfigured:
    told = f"{var}={shortened(path)} cannot be used ({error.strerror}: {shortened(error.filename)})"
    return ImproperlyConfigured(f"{told}: set it to a folder that this user may write to.")


env = Environment()
environ.Env.read_env(BASE_DIR / ".env")  # for developers; a real variable wins
