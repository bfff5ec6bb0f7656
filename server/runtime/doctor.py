"""Examines an installation: settings, reachability, permissions, versions, disk, clock and mail."""

import importlib.metadata
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.checks import WARNING, run_checks
from django.core.files.storage import default_storage
from django.core.mail import get_connection
from django.db import DatabaseError, InterfaceError, connection
from redis import RedisError

from evaluator import __version__
from evaluator.texts import counted
from server.challenges.truth_storage import storages
from server.clock import database_now
from server.maintenance import services as maintenance
from server.runtime import health, joining, schema, shared_keys
from server.runtime.env_file import names_in
from server.runtime.environment import BASE_DIR, ENV_FILE, env
from server.runtime.home import NotStarted
from server.runtime.models import Installation
from server.runtime.parts import own_worker
from server.runtime.setting_warnings import setting_warnings
from server.runtime.startup_checks import broker_error, unusable_database
from server.stored_files.copies import is_local, title_of

FREE_BYTES = 2 * 2**30
CLOCK_SECONDS = 2.0
# Ids of the warnings that Django's deployment check emits if PODIUM_URL does not use TLS.
WITHOUT_TLS = {f"security.W{number:03}" for number in (4, 8, 12, 16)}
OF_COMPOSE = {"SITE", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "STORAGE_PASSWORD", "WORKERS"}
PINNED = re.compile(r"^([\w-]+)==([\w.]+)")
ERROR, ADVICE, OK = "error", "advice", "ok"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: what was examined, how severe the problem is, and what to do about it."""

    subject: str
    level: str
    sentence: str


def examine() -> Iterator[Finding]:
    """Yield the findings of all checks. Checks of the database's content are skipped if the database cannot be used."""
    yield from check_settings()
    yield from check_env_file()
    yield from check_packages()
    yield from check_folders()
    usable = yield from check_database()
    if usable:
        yield from check_storages()
        yield check_keys()
        yield from check_clock()
        yield from check_maintenance()
    yield from check_broker(usable=usable)
    yield from check_mail()


def check_settings() -> Iterator[Finding]:
    found = [message for message in run_checks(include_deployment_checks=True) if message.level >= WARNING]
    if not settings.HTTPS:
        found = [message for message in found if message.id not in WITHOUT_TLS]
        advice = "Set it to https://… and put a proxy with TLS in front of the service."
        yield Finding("settings", ADVICE, f"PODIUM_URL={settings.PODIUM_URL} does not use TLS. {advice}")
    for message in found:
        hint = f" {message.hint}" if message.hint else ""
        yield Finding("settings", ADVICE, f"{message.msg}{hint} ({message.id})")
    for warning in setting_warnings():
        yield Finding("settings", ADVICE, warning)
    if settings.DEBUG:
        yield Finding("settings", ERROR, "DEBUG is on: error pages show secrets. Set DEBUG=false.")
    if not found:
        yield Finding("settings", OK, "the deployment check has no warnings")


def check_env_file() -> Iterator[Finding]:
    """Yield a finding for each variable in .env that is not the name of a setting, and therefore has no effect.

    Another finding reminds operators to finish a rotation of SECRET_KEY that has begun.
    """
    for name in names_in(ENV_FILE):
        if name not in env.names | OF_COMPOSE:
            near = get_close_matches(name, env.names, n=1)
            advice = f"Did you mean {near[0]}?" if near else ".env.example lists all settings."
            yield Finding("settings", ADVICE, f"{name} in {ENV_FILE} is not a setting of Podium. {advice}")
    if settings.SECRET_KEY_FALLBACKS:
        # The settings do not show whether the secrets are encrypted with the new key already.
        advice = (
            "Run `manage.py rotate_secret_key` if you have not done so, and remove SECRET_KEY_FALLBACKS 14 days later."
        )
        yield Finding("settings", ADVICE, f"SECRET_KEY is being rotated. {advice}")


def check_packages() -> Iterator[Finding]:
    """Yield a finding that states whether the installed packages have the versions in requirements.txt."""
    different = []
    for line in (BASE_DIR / "requirements.txt").read_text().partition("# tests")[0].splitlines():
        if (pinned := PINNED.match(line)) and installed(pinned[1]) != pinned[2]:
            different.append(f"{pinned[1]} {installed(pinned[1])} instead of {pinned[2]}")
    if different:
        advice = "Run `pip install -r requirements.txt`."
        yield Finding(
            "packages",
            ERROR,
            f"{len(different)} versions differ from requirements.txt: {', '.join(different[:5])}. {advice}",
        )
    else:
        yield Finding("packages", OK, "as in requirements.txt")


def installed(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def check_folders() -> Iterator[Finding]:
    home = Path(settings.PODIUM_HOME)
    for name in ("secret_key", "audit_key", "signing_key"):
        path = home / name
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            advice = f"Run `chmod 600 {path}`, and replace the key."
            yield Finding("permissions", ERROR, f"Other users can read {path}. {advice}")
    if stat.S_IMODE(home.stat().st_mode) & 0o077:
        yield Finding("permissions", ADVICE, f"Other users can read {home}. Run `chmod 700 {home}`.")
    if os.geteuid() == 0:
        yield Finding("permissions", ADVICE, "Podium runs as root. Run it as a separate user.")
    for folder in sorted({home, Path(settings.FILE_UPLOAD_TEMP_DIR), *storage_folders()}):
        yield check_disk(folder)


def storage_folders() -> list[Path]:
    found = [Path(title_of(storage)) for storage in storages().values() if is_local(storage)]
    return [folder for folder in found if folder.is_dir()]


def check_disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    shown = f"{folder} has {free / 2**30:.1f} GiB free"
    wanted = max(FREE_BYTES, 2 * settings.UPLOAD_MAX_BYTES)
    if free < wanted:
        advice = f"less than the {wanted / 2**30:.0f} GiB that two uploads of maximum size need. Free some space,"
        return Finding("disk", ERROR, f"{shown}, {advice} or lower UPLOAD_MAX_BYTES.")
    return Finding("disk", OK, shown)


def check_database() -> Generator[Finding, None, bool]:
    """Yield the finding about the database, and return whether its content can be examined."""
    try:
        connection.ensure_connection()
        schema.refuse_newer(connection)
        count = schema.missing(connection)
    except (DatabaseError, InterfaceError) as error:
        yield Finding("database", ERROR, unusable_database(DatabaseError(str(error))))
        return False
    except NotStarted as error:
        yield Finding("database", ERROR, str(error))
        return False
    if count:
        advice = "Start the web part of this version, or run `manage.py migrate`."
        yield Finding("database", ERROR, f"{count} migrations have not been applied. {advice}")
        return False
    version = ".".join(map(str, connection.get_database_version()))
    yield Finding("database", OK, f"{connection.display_name} {version}, all migrations are applied")
    return True


def check_storages() -> Iterator[Finding]:
    if not Installation.objects.get().has_storage:
        yield Finding("storage", ADVICE, "It has not been used yet. Start the service once.")
        return
    yield from passes("storage", lambda: joining.check_storages(first=False), "belongs to this installation")
    state = health.storage()
    if state != health.OK:
        place = title_of(default_storage)
        yield Finding("storage", ERROR, f"{place} {state}. Correct its permissions, or free some space.")


def check_keys() -> Finding:
    if names := shared_keys.differing(shared_keys.of_installation()):
        return Finding("keys", ERROR, shared_keys.explanation(names))
    return Finding("keys", OK, "the secret keys match those of the installation")


def passes(subject: str, check: Callable[[], None], sentence: str) -> Iterator[Finding]:
    try:
        check()
    except NotStarted as error:
        yield Finding(subject, ERROR, str(error))
    else:
        yield Finding(subject, OK, sentence)


def check_clock() -> Iterator[Finding]:
    before = time.time()
    there = database_now().timestamp()
    seconds = max(before - there, there - time.time(), 0.0)
    if seconds > CLOCK_SECONDS:
        advice = "Deadlines use the database's clock. Synchronize both with NTP."
        yield Finding("clock", ADVICE, f"This machine's clock differs from the database's by {seconds:.1f} s. {advice}")
    else:
        yield Finding("clock", OK, "agrees with the database's")


def check_maintenance() -> Iterator[Finding]:
    if found := maintenance.current():
        text = f"The service is under maintenance {maintenance.sentence(found, database_now())}"
        yield Finding("maintenance", ADVICE, f"{text} To end it, run `manage.py maintenance off`.")


def check_broker(*, usable: bool) -> Iterator[Finding]:
    if not settings.REDIS_URL:
        yield Finding("broker", ADVICE, "REDIS_URL is not set and no service runs here, so Redis was not checked.")
        return
    if reason := broker_error(settings.REDIS_URL):
        yield Finding("broker", ERROR, f"Redis does not respond ({reason}). Start it, or correct REDIS_URL.")
        return
    if usable:
        check = partial(joining.check_broker, settings.REDIS_URL, first=False)
        yield from passes("broker", check, "Redis responds and belongs to this installation")
    yield from check_workers()
    state = health.sweeper()
    if state == health.OK:
        yield Finding("sweeper", OK, "has cleaned up lately")
    else:
        yield Finding("sweeper", ERROR, f"{state}. Start a sweeper: `manage.py up --only sweeper`.")


def check_workers() -> Iterator[Finding]:
    state = health.worker()
    if state != health.OK:
        yield Finding("worker", ERROR, f"{state}. Start a worker: `manage.py up --only worker`.")
    with suppress(RedisError, ValueError):
        versions = health.worker_versions()
        if state == health.OK:
            yield Finding("worker", OK, live_workers(sorted(versions)))
        if (version := health.evaluator_of_web()) not in ("", __version__):
            advice = f"Only workers with {version} take jobs. Restart the web part of the version that should be used."
            text = f"The web part that was started last has the evaluator {version}, and this host has {__version__}."
            yield Finding("web", ERROR, f"{text} {advice}")
        for name, version in versions.items():
            if version != __version__:
                advice = "Leaderboards show only scores of one version. Upgrade this worker."
                yield Finding("worker", ERROR, f"{name} has the evaluator {version} instead of {__version__}. {advice}")


def live_workers(names: list[str]) -> str:
    """Return a sentence with the names of the live workers, and whether one of them runs on this host."""
    own = own_worker()
    shown = ", ".join(f"{name} (this host)" if name == own else name for name in names)
    elsewhere = "" if own in names else ", none on this host"
    return f"{counted(len(names), 'worker sends', 'workers send')} heartbeats: {shown}{elsewhere}"


def check_mail() -> Iterator[Finding]:
    if settings.EMAIL_BACKEND in settings.SILENT_EMAIL_BACKENDS:
        yield Finding("mail", ADVICE, "Emails are not sent, because EMAIL_BACKEND is not set to a mail server.")
        return
    try:
        with get_connection():
            yield Finding("mail", OK, f"{settings.EMAIL_HOST} accepts connections")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        advice = "Correct EMAIL_HOST, EMAIL_PORT, EMAIL_USE_TLS, EMAIL_HOST_USER and EMAIL_HOST_PASSWORD."
        yield Finding("mail", ERROR, f"{settings.EMAIL_HOST} refuses connections ({reason}). {advice}")
