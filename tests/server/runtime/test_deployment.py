"""The files in deploy/ run only existing process types, use only existing settings, and grant no unnecessary rights."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import CommandError, call_command

from server.middleware import FORM_BYTES
from server.runtime import doctor, health
from server.runtime.home import NotAvailable
from server.runtime.management.commands import ready
from server.runtime.parts import PARTS, own_sweeper
from server.stored_files.address import parsed
from tests.server.runtime.test_health import FakeRedis

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "systemd" / "podium@.service"
SOCKET = DEPLOY / "systemd" / "podium@web.socket"
# The settings whose values are part of the image
OF_THE_IMAGE = {"PODIUM_HOME", "PODIUM_BIND", "PODIUM_PORT"}
WRITTEN_BY_COMPOSE = {"SITE", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "STORAGE_PASSWORD"}


def known_settings() -> set[str]:
    return set(re.findall(r"^# (\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


@pytest.fixture
def services() -> dict[str, Any]:
    """Return the services in compose.yaml that run Podium itself, without the database and the broker."""
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return {name: one for name, one in found.items() if one["image"] == "podium"}


def test_the_compose_file_runs_each_part_and_examines_it(services: dict[str, Any]) -> None:
    assert set(services) == set(PARTS)
    for name, service in services.items():
        assert service["command"] == ["--only", name]
        assert service["healthcheck"]["test"][-3:] == ["ready", "--only", name]


def test_each_part_of_the_compose_file_has_only_settings_that_exist(services: dict[str, Any]) -> None:
    for service in services.values():
        assert set(service["environment"]) - known_settings() == set()
        needed = {"DATABASE_URL", "REDIS_URL", "STORAGE_URL", "SECRET_KEY", "AUDIT_KEY", "SIGNING_KEY"}
        assert needed <= set(service["environment"])


def test_every_part_of_the_compose_file_gets_every_setting(services: dict[str, Any]) -> None:
    """Without SECRET_KEY_FALLBACKS, for example, no part would start while SECRET_KEY is being changed."""
    given = {"PODIUM_URL", "PROXIES", "DATABASE_URL", "REDIS_URL", "STORAGE_URL"}
    for service in services.values():
        environment = service["environment"]
        assert set(environment) == known_settings() - OF_THE_IMAGE
        assert [name for name, value in environment.items() if name not in given and f"${{{name}:" not in value] == []


def test_the_parts_of_the_compose_file_use_its_object_storage(services: dict[str, Any]) -> None:
    storage = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["storage"]
    for service in services.values():
        found = parsed(service["environment"]["STORAGE_URL"].replace("${STORAGE_PASSWORD:?set STORAGE_PASSWORD}", "x"))
        assert (found.endpoint, found.access_key) == ("http://storage:7070", storage["environment"]["ROOT_ACCESS_KEY"])
        assert {"storage", "web"} & set(service["depends_on"])


def test_the_parts_of_the_compose_file_cannot_write_to_their_image_and_have_no_rights(services: dict[str, Any]) -> None:
    for service in services.values():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert services["worker"]["networks"] == ["inside"]


def test_the_number_of_workers_is_kept_in_the_settings_file(services: dict[str, Any]) -> None:
    """Otherwise, `up -d` without an option would stop all workers except for one."""
    assert services["worker"]["deploy"]["replicas"] == "${WORKERS:-1}"
    assert "--scale" not in (DEPLOY / "README.md").read_text()


def test_the_doctor_knows_the_variables_that_only_compose_reads() -> None:
    named = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    assert named - known_settings() == doctor.OF_COMPOSE


def test_the_compose_file_names_every_volume_and_network_that_it_uses() -> None:
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    volumes, networks = set(), set()
    for service in found["services"].values():
        networks |= set(service.get("networks", []))
        mounts = service.get("volumes", [])
        volumes |= {one["source"] if isinstance(one, dict) else one.split(":")[0] for one in mounts}
    assert {one for one in volumes if not one.startswith((".", "/"))} == set(found["volumes"])
    assert networks == set(found["networks"])


def test_a_secret_that_the_compose_file_needs_has_no_default() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    for name in (*WRITTEN_BY_COMPOSE, "SECRET_KEY", "AUDIT_KEY", "SIGNING_KEY"):
        assert set(re.findall(rf"\$\{{{name}\b(..)", text)) == {":?"}


def test_the_image_runs_without_rights_and_has_a_health_check() -> None:
    last = (DEPLOY / "Dockerfile").read_text().rpartition("\nFROM ")[2]
    assert re.search(r"^USER podium$", last, re.MULTILINE)
    assert '"ready"' in re.findall(r"^HEALTHCHECK .*", last, re.MULTILINE)[0]
    assert re.findall(r"^ENTRYPOINT (.*)", last, re.MULTILINE) == ['["python", "manage.py", "up"]']


def test_the_unit_stops_restarting_if_the_configuration_is_wrong() -> None:
    text = UNIT.read_text()
    assert "RestartPreventExitStatus=64 78" in text
    assert str(NotAvailable.returncode) not in text.partition("RestartPreventExitStatus=")[2].splitlines()[0]
    assert "manage.py up --only %i" in text


def test_a_worker_may_take_longer_to_stop_than_its_longest_scoring(services: dict[str, Any]) -> None:
    """STOP_SECONDS limits the time. If the worker were killed earlier, its scorings would count as failed attempts."""
    assert "\nTimeoutStopSec=infinity\n" in UNIT.read_text()
    assert int(services["worker"]["stop_grace_period"].removesuffix("h")) * 3600 > settings.EVALUATION_WALL_SECONDS


def test_only_podium_reads_the_settings_of_the_unit() -> None:
    """systemd reads such a file by other rules, and its values would take precedence."""
    assert re.findall(r"^Environment.*", UNIT.read_text(), re.MULTILINE) == []


def test_the_unit_starts_after_network_file_systems() -> None:
    """A folder that is not mounted yet would end the part with an exit code after which it is not restarted."""
    assert "remote-fs.target" in re.findall(r"^After=(.*)", UNIT.read_text(), re.MULTILINE)[0].split()


def test_systemd_keeps_the_default_port_of_the_web_part_open_and_caddy_forwards_to_it() -> None:
    address = f"{settings.PODIUM_BIND}:{settings.PODIUM_PORT}"
    assert f"\nListenStream={address}\n" in SOCKET.read_text()
    assert f"s/web:8000/{address}/" in (DEPLOY / "README.md").read_text()


def test_the_proxies_accept_the_largest_upload() -> None:
    """In Caddy, MB are 10**6 bytes and MiB are 2**20 bytes. In nginx, m are 2**20 bytes."""
    needed = settings.UPLOAD_MAX_BYTES + FORM_BYTES
    of_caddy = re.findall(r"^\s*max_size (\d+)(MB|MiB)$", (DEPLOY / "Caddyfile").read_text(), re.MULTILINE)
    assert [int(number) * (10**6 if unit == "MB" else 2**20) >= needed for number, unit in of_caddy] == [True]
    of_nginx = re.findall(r"client_max_body_size +(\d+)m;", (DEPLOY / "README.md").read_text())
    assert [int(number) * 2**20 >= needed for number in of_nginx] == [True]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_the_unit_is_valid(tmp_path: Path) -> None:
    for part in PARTS:
        program = tmp_path / "python"
        program.touch(mode=0o755)
        text = UNIT.read_text().replace("/srv/podium/.venv/bin/python", str(program))
        (tmp_path / f"podium@{part}.service").write_text(text)
        shutil.copy(SOCKET, tmp_path)
        units = [str(tmp_path / f"podium@{part}.service"), str(tmp_path / SOCKET.name)]
        words = ["systemd-analyze", "verify", "--recursive-errors=no", *units]
        done = subprocess.run(words, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("state", "code"),
    [({"worker": health.OK}, 0), ({"worker": "no heartbeat"}, 1), ({"web": "ok", "storage": "no"}, 1)],
)
def test_ready_exits_with_1_if_something_is_missing(
    state: dict[str, str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "readiness", lambda parts: state)
    seen = 0
    try:
        call_command("ready")
    except CommandError as error:
        seen = error.returncode
    assert seen == code


@pytest.mark.parametrize(("age", "code"), [(10.0, 0), (1000.0, 1)])
def test_the_sweeper_is_ready_if_it_has_cleaned_up_lately(
    age: float, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "redis", lambda: FakeRedis(sweepers={own_sweeper(): age}))
    seen = 0
    try:
        call_command("ready", "--only", "sweeper")
    except CommandError as error:
        seen = error.returncode
    assert seen == code
