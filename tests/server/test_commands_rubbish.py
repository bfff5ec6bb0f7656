"""No argument to a management command causes a traceback. Invalid arguments are rejected with a one-line message."""

import argparse
import errno
import os
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from django.db import transaction
from pytest_django import Settings

from evaluator.bundle import InvalidBundle, opened
from server.challenges.models import Phase

ENDLESS = {"demo", "up"}  # These commands start the service and run until they are stopped.
OF_LOGS = {"verify_audit"}  # The arguments of this command are log files. It is tested in audit/test_log.py.
COMMANDS = sorted(name for name, app in get_commands().items() if str(app).startswith("server."))
# A command-line argument that is not UTF-8, as Python decodes it.
BYTES = b"\xff\xfe".decode("utf-8", "surrogateescape")
LONG = "a" * 5000
RUBBISH = (BYTES, "a\0b", "", " ", "-1", str(10**24), LONG, "a" * 10**5, "\u202e", "%", "/dev/null")


def arguments(name: str) -> list[argparse.Action]:
    """Return the arguments that a command itself defines, excluding those that every Django command has."""
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
    shared = {"help", "version", "verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color"}
    return [action for action in parser._actions if action.dest not in shared]


def filler(action: argparse.Action) -> str:
    """Return a valid value for the given required argument of a command."""
    return str(UUID(int=0)) if action.type is UUID else "animals"


def calls(name: str) -> Iterator[list[str]]:
    """Yield argument lists for a command. In each list, one argument is invalid and all others are valid."""
    found = arguments(name)
    needed = [action for action in found if not action.option_strings and action.nargs != "*"]
    asks = {"--noinput"} & {option for action in found for option in action.option_strings}
    rest = [*asks, *(filler(action) for action in needed)]
    for rubbish in RUBBISH:
        yield [*rest, rubbish]
        yield [*rest, f"--{rubbish}"]
        for index in range(len(needed)):
            yield [*asks, "--", *(rubbish if one is needed[index] else filler(one) for one in needed)]
        for action in found:
            if action.option_strings and action.nargs != 0:
                yield [f"{action.option_strings[0]}={rubbish}", *rest]


# Options that accept any string, including those in RUBBISH. Such strings are also allowed after "--", which ends the
# options.
FREE_TEXTS = {("token", "--name"), ("createsuperuser", "--username"), ("rescore", "--reason"), ("rescore", "--signed")}


def is_accepted(name: str, words: list[str]) -> bool:
    """Return whether a command accepts the given arguments.

    Any exception other than CommandError and SystemExit fails the test. Changes are rolled back, so that later calls
    cannot refer to new rows.
    """
    try:
        with transaction.atomic():
            call_command(name, *words, stdout=StringIO(), stderr=StringIO(), skip_checks=True)
            transaction.set_rollback(True)
    except CommandError as error:
        return error.returncode == 0
    except SystemExit as error:
        return not error.code
    return True


def may_be_accepted(name: str, words: list[str]) -> bool:
    return "--" in words or any((name, word.partition("=")[0]) in FREE_TEXTS for word in words)


# Some arguments must name an existing challenge, phase or user. `filler` returns "animals", so each has this name.
pytestmark = [
    pytest.mark.phase(challenge={"slug": "animals"}, slug="animals"),
    pytest.mark.member(username="animals", email="animals@example.org"),
]


@pytest.mark.parametrize("name", sorted({*COMMANDS} - ENDLESS - OF_LOGS))
def test_invalid_arguments_are_refused_without_a_traceback(
    name: str, phase: Phase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.chdir(tmp_path)
    settings.PODIUM_HOME = tmp_path
    for about, value in (("USERNAME", "root"), ("EMAIL", "root@example.org"), ("PASSWORD", "another long 7")):
        monkeypatch.setenv(f"DJANGO_SUPERUSER_{about}", value)
    accepted = [words for words in calls(name) if is_accepted(name, words) and not may_be_accepted(name, words)]
    assert accepted == []


@pytest.mark.parametrize("name", COMMANDS)
def test_text_that_is_not_utf_8_is_refused(name: str, db: None) -> None:
    for action in arguments(name):
        if action.nargs == 0 or action.type is not None or action.choices:
            continue
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        for text, told in (("", "is empty"), (BYTES, "is not UTF-8"), ("a\0b", "NUL"), ("a" * 10**5, "at most 10000")):
            with pytest.raises(argparse.ArgumentError, match=told):
                parser._get_values(action, [text])


def test_a_path_that_is_too_long_is_unreadable(tmp_path: Path, phase: Phase) -> None:
    for path in (LONG, f"{tmp_path}/{LONG}"):
        said = StringIO()
        with pytest.raises(CommandError, match="1 error in the bundle; nothing was imported") as refused:
            call_command("import_challenge", path, stderr=said)
        assert refused.value.returncode == 1
        assert "unreadable cannot be read: File name too long" in said.getvalue()
        with pytest.raises(CommandError, match="unreadable cannot be read: File name too long"):
            call_command("rescore", "animals", "animals", "--truth", path, stdout=StringIO())


def test_a_path_that_does_not_exist_is_reported(tmp_path: Path, db: None) -> None:
    for more in ([], ["--opaque-ids"]):
        said = StringIO()
        with pytest.raises(CommandError, match="nothing was imported"):
            call_command("import_challenge", str(tmp_path / "nothing"), *more, stderr=said)
        assert said.getvalue() == "nothing: missing_file no such file or folder\n"


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_that_fails_while_it_is_read_is_unreadable(
    tmp_path: Path, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bundle"
    if packed:
        path.write_bytes(b"PK")
        monkeypatch.setattr("evaluator.bundle.unpacking.ZipFile", failing(errno.EIO))
    else:
        path.mkdir()
        (path / "challenge.yaml").write_text("slug: animals\n")
        monkeypatch.setattr("os.read", failing(errno.EIO))
    with pytest.raises(InvalidBundle) as caught, opened(path):
        pass
    assert [problem.code for problem in caught.value.problems] == ["unreadable"]


def test_a_full_disk_is_not_the_fault_of_a_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "challenge.yaml").write_text("slug: animals\n")
    monkeypatch.setattr("evaluator.bundle.copying._copy_file", failing(errno.ENOSPC))
    with pytest.raises(OSError, match="No space"), opened(tmp_path):
        pass


def failing(number: int) -> Any:
    """Return a function that raises an OSError with the given error number."""

    def fail(*words: Any, **options: Any) -> None:
        raise OSError(number, os.strerror(number))

    return fail
