"""All settings are documented, and their defaults are safe for production."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from server.runtime.environment import env

ROOT = Path(__file__).parents[3]
SECRETS = ("SECRET_KEY", "SECRET_KEY_FALLBACKS", "AUDIT_KEY", "SIGNING_KEY", "METRICS_TOKEN")


def test_every_setting_is_in_the_example() -> None:
    names = ("settings.py", "account_settings.py", "limits.py")
    source = "".join((ROOT / "server" / name).read_text() for name in names)
    read = set(re.findall(r"env\.\w+\(\s*\"(\w+)\"", source))
    shown = set(re.findall(r"^# (\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert read == shown


def test_the_example_can_be_used_with_every_line_uncommented(tmp_path: Path) -> None:
    lines = re.findall(r"^# (\w+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE)
    # Secret keys are left out, because their example values are only placeholders.
    shown = {name: value for name, value in lines if name not in SECRETS}
    environment = {**os.environ, **shown, "PODIUM_HOME": str(tmp_path), "SECURE_HSTS_SECONDS": "0"}
    code = "from server import settings as s; print(s.PODIUM_BIND, s.WORKER_PROCESSES, s.PROXIES)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "127.0.0.1 2 0\n", done.stderr


@pytest.mark.parametrize(("processes", "at_once"), [(1, 1), (2, 1), (3, 2), (16, 2)])
def test_one_team_can_never_use_every_process(processes: int, at_once: int, tmp_path: Path) -> None:
    environment = {**os.environ, "PODIUM_HOME": str(tmp_path), "WORKER_PROCESSES": str(processes)}
    code = "from server import settings as s; print(s.TEAM_EVALUATIONS_AT_ONCE)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == f"{at_once}\n", done.stderr


@pytest.mark.parametrize(
    ("options", "seconds", "server"),
    [("", "10", "-c tcp_keepalives_idle=4"), ("?connect_timeout=3&options=-c%20a%3Db", "3", "-c a=b")],
)
def test_postgresql_notices_a_host_that_was_cut_off_unless_its_address_has_other_options(
    options: str, seconds: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"postgres://podium@db.example.org/podium{options}")
    found = env.database("DATABASE_URL", default="")["OPTIONS"]
    assert (str(found["connect_timeout"]), found["tcp_user_timeout"]) == (seconds, 10_000)
    assert found["options"].startswith(server)


def deployment_check(home: Path, **told: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PODIUM_HOME": str(home), "PODIUM_URL": "https://podium.example.org", **told}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("redis", ["", "unix:///run/redis.sock", "rediss://:secret@redis.example.org:6379/0"])
def test_production_settings_pass_the_deployment_check(redis: str, tmp_path: Path) -> None:
    done = deployment_check(tmp_path, REDIS_URL=redis)
    assert done.returncode == 0, done.stderr


def test_a_broker_that_is_open_to_all_fails_the_deployment_check(tmp_path: Path) -> None:
    done = deployment_check(tmp_path, REDIS_URL="redis://redis.example.org:6379/0")
    assert done.returncode == 1
    assert "podium.W001" in done.stderr


@pytest.mark.parametrize(("url", "secure"), [("https://podium.example.org", True), ("http://localhost:8000", False)])
def test_cookies_are_restricted_to_https_if_the_site_uses_https(url: str, secure: bool, tmp_path: Path) -> None:
    environment = {**os.environ, "PODIUM_HOME": str(tmp_path), "PODIUM_URL": url}
    code = (
        "from server import settings as s; print(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.SECURE_SSL_REDIRECT)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == f"{secure} {secure} {secure}\n", done.stderr
