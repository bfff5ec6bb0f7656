"""Invalid values of settings are rejected with a one-line message that names the setting."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.http.request import split_domain_port, validate_host

ROOT = Path(__file__).parents[3]
KEYS = re.findall(r"^# (\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE)

LONG = "9" * 5000
RUBBISH = [
    "rubbish",
    "-5",
    "0",
    "1.5",
    "1e3",
    "99999999999999999999",
    LONG,
    " ",
    "a b",
    "$HOME",
    "://",
    "http://[::1",
    "\u0663",  # Python's int() accepts this Arabic-Indic digit three.
    "\udce9",  # Python decodes a byte that is not valid UTF-8 to a surrogate such as this one.
]
# Although the strings in RUBBISH are invalid for most settings, some of them are valid for the following settings.
TEXTS = {"EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD"}
NAMES_OF_HOSTS = {"ALLOWED_HOSTS", "EMAIL_HOST", "PODIUM_BIND"}
MAY_BE_ZERO = {
    "PROXIES",
    "SECURE_HSTS_SECONDS",
    "SMALL_FILE_MAX_BYTES",
    "SMALL_FILE_CPU_SECONDS",
    "SCORED_FILE_DAYS",
    "INTERVAL_REPLICATES",
    "EXPLANATION_MAX_BYTES",
    "WORKER_LARGE_FILES_AT_ONCE",
    "STOP_SECONDS",
    "DEBUG",
    "EMAIL_USE_TLS",
    "CONFIRM_EMAIL",
}

# A program that reads the settings once for each test case. Starting a process for each case would take minutes.
PROBE = """
import json, os, sys
from importlib import import_module
from django.core.exceptions import ImproperlyConfigured
from server.runtime.environment import refuse_unless_mail_backend

usual = dict(os.environ)
for told in json.load(sys.stdin):
    os.environ.clear()
    os.environ.update({**usual, **told})
    for name in ("server.settings", "server.account_settings", "server.limits"):
        sys.modules.pop(name, None)
    try:
        settings = import_module("server.settings")
        refuse_unless_mail_backend("EMAIL_BACKEND", settings.EMAIL_BACKEND)
        said = {"hosts": settings.ALLOWED_HOSTS, "url": settings.PODIUM_URL, "debug": settings.DEBUG}
    except ImproperlyConfigured as error:
        said = str(error)
    print(json.dumps(said))
"""


def read(cwd: Path, told: list[dict[str, str]]) -> list[Any]:
    """Read the settings with each set of environment variables. Return the settings or error message for each set."""
    kept = {name: value for name, value in os.environ.items() if name not in KEYS}
    environment = {**kept, "PODIUM_HOME": str(cwd / "home"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(
        command, cwd=cwd, env=environment, input=json.dumps(told), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    cases = [(key, value) for key in KEYS for value in RUBBISH]
    found = read(tmp_path_factory.mktemp("probe"), [{key: value} for key, value in cases])
    answers: dict[str, dict[str, Any]] = {key: {} for key in KEYS}
    for (key, value), answer in zip(cases, found, strict=True):
        answers[key][value] = answer
    return answers


def accepted(key: str) -> set[str]:
    if key in TEXTS:
        return set(RUBBISH)
    if key == "PODIUM_HOME":
        return set(RUBBISH) - {LONG}
    return (
        ({"rubbish", "1e3"} if key in NAMES_OF_HOSTS else set())
        | ({" "} if key == "ALLOWED_HOSTS" else set())
        | ({"0"} if key in MAY_BE_ZERO else set())
        | ({LONG} if key.endswith(("_KEY", "_TOKEN", "_FALLBACKS")) else set())
    )


@pytest.mark.parametrize("key", KEYS)
def test_invalid_values_are_refused_in_one_sentence_that_names_the_setting(
    key: str, answers: dict[str, dict[str, Any]]
) -> None:
    refused = {value: said for value, said in answers[key].items() if isinstance(said, str)}
    assert set(RUBBISH) - refused.keys() == accepted(key)
    for said in refused.values():
        assert re.match(rf"{key}\b", said)
        assert "set it to" in said
        assert len(said) < 600


def test_an_empty_value_means_the_default(tmp_path: Path) -> None:
    usual, *given = read(tmp_path, [{}, *({key: ""} for key in KEYS if key != "PODIUM_HOME")])
    assert all(one == usual for one in given)


def test_a_key_that_is_too_short_is_refused_and_not_shown(tmp_path: Path) -> None:
    (said,) = read(tmp_path, [{"AUDIT_KEY": "hunter2"}])
    assert said.startswith("AUDIT_KEY is too short: set it to 32 or more")
    assert "hunter2" not in said


@pytest.mark.parametrize(("word", "meant"), [("TRUE", True), ("yes", True), ("1", True), ("off", False), ("No", False)])
def test_boolean_settings_ignore_letter_case(word: str, meant: bool, tmp_path: Path) -> None:
    assert read(tmp_path, [{"DEBUG": word}])[0]["debug"] is meant


@pytest.mark.parametrize(
    "url", ["http://localhost:8000", "https://Podium.example.org", "http://[::1]:8000", "https://podium.example.org/"]
)
def test_the_host_of_the_site_is_always_allowed(url: str, tmp_path: Path) -> None:
    """The supervisor sends PODIUM_URL's host name when it checks whether the web process is ready.

    Therefore, this host is allowed even if ALLOWED_HOSTS does not contain it.
    """
    (said,) = read(tmp_path, [{"ALLOWED_HOSTS": "rubbish", "PODIUM_URL": url}])
    host, _ = split_domain_port(said["url"].partition("://")[2])
    assert validate_host(host, said["hosts"])


def test_the_heartbeat_interval_must_be_shorter_than_the_lease(tmp_path: Path) -> None:
    (said, short) = read(tmp_path, [{"LEASE_SECONDS": "30", "HEARTBEAT_SECONDS": "30"}, {"LEASE_SECONDS": "5"}])
    assert said == "HEARTBEAT_SECONDS=30 cannot be used: set it to a whole number from 1 to 29."
    assert not isinstance(short, str)
