"""Tests that the operators' manual mentions only existing commands, options, targets, files and settings."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from tests.server.runtime.test_deployment import WRITTEN_BY_COMPOSE, known_settings

ROOT = Path(__file__).parents[3]
MANUAL = (ROOT / "deploy" / "README.md").read_text()
BLOCKS = re.findall(r"^```\n(.*?)^```$", MANUAL, re.MULTILINE | re.DOTALL)
MANAGED = re.compile(r"(?:manage\.py|podium-manage)\s+([a-z_]+)([^`|\n]*)")


def managed() -> list[tuple[str, list[str]]]:
    """Return each `manage.py` command in the operators' manual, with the options that the manual uses."""
    joined = MANUAL.replace("\\\n", " ")
    found = [(name, re.findall(r"(?<!\S)--[a-z-]+", rest)) for name, rest in MANAGED.findall(joined)]
    assert len(found) > 30
    return found


@pytest.mark.parametrize(("name", "options"), sorted({(name, tuple(options)) for name, options in managed()}))
def test_a_command_of_manage_py_exists_with_its_options(name: str, options: tuple[str, ...]) -> None:
    app = get_commands()[name]
    parser = load_command_class(app, name).create_parser("manage.py", name)
    known = {option for action in parser._actions for option in action.option_strings}
    assert set(options) <= known


def test_the_alert_rules_use_the_job_name_of_the_scrape_example() -> None:
    block = next(one for one in BLOCKS if one.startswith("scrape_configs:"))
    jobs = {one["job_name"] for one in yaml.safe_load(block)["scrape_configs"]}
    assert jobs == set(re.findall(r'job="(\w+)"', (ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text()))


def test_targets_of_make_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"^make (?:-C \S+ )?([a-z]+)", "\n".join(BLOCKS), re.MULTILINE))
    named |= set(re.findall(r"`make ([a-z]+)", MANUAL))
    assert named
    assert named <= targets


def test_make_setup_writes_nothing_to_the_folder_of_the_service() -> None:
    """Root runs `make setup`, so the service could not use a folder that this command created in PODIUM_HOME."""
    steps = subprocess.run(["make", "-nB", "setup"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    managed = [step for step in steps.splitlines() if "manage.py" in step]
    assert managed
    assert [step for step in managed if not step.startswith("PODIUM_HOME=build/home ")] == []


def test_files_of_the_repository_exist() -> None:
    named = set(re.findall(r"/srv/podium(?:-\d)?/((?:deploy|server)/[^\s;]+[a-z])", MANUAL))
    named |= {f"deploy/{path}" for path in re.findall(r"`((?:prometheus|systemd)/[^`\s]+)`", MANUAL)}
    named |= set(re.findall(r"deploy/compose\.yaml", MANUAL))
    assert len(named) > 4
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_settings_exist() -> None:
    named = set(re.findall(r"`([A-Z][A-Z_]*_[A-Z_]+)(?:=[^`]*)?`", MANUAL))
    assert len(named) > 20
    assert named - known_settings() - WRITTEN_BY_COMPOSE == set()


def test_the_settings_file_of_the_first_deploy_has_only_settings() -> None:
    block = next(one for one in BLOCKS if "> /etc/podium.env" in one)
    written = set(re.findall(r"^\s+echo ([A-Z_]+)=", block, re.MULTILINE))
    written |= set(re.findall(r"for name in ([A-Z_ ]+);", block)[0].split())
    assert {"DATABASE_URL", "REDIS_URL", "PODIUM_HOME", "SECRET_KEY"} <= written
    assert written - known_settings() == set()


@pytest.mark.parametrize("title", ["Changing secrets", "When something is lost"])
def test_a_new_key_is_accepted_before_the_service_is_started_with_it(title: str) -> None:
    """A part whose keys differ from their stored fingerprints exits with 78."""
    chapter = MANUAL.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    key = {"Changing secrets": "SIGNING_KEY", "When something is lost": "SECRET_KEY"}[title]
    row = re.findall(rf"^\| `{key}` \|(.*)", chapter, re.MULTILINE)[0]
    assert re.search(r"shared_keys --accept`.*\b(re)?start\b", row)


@pytest.mark.parametrize("command", ["podium-manage ", "python manage.py "])
def test_an_upgrade_makes_its_backup_while_uploads_are_refused(command: str) -> None:
    """Otherwise, uploads after the backup are lost if the new version does not work."""
    blocks = [one for one in BLOCKS if f"{command}maintenance on" in one and "before-2" in one]
    assert len(blocks) == 1
    found = re.findall(r"(?:manage|manage\.py) (maintenance on|backup|doctor|maintenance off)\b", blocks[0])
    assert found == ["maintenance on", "backup", "doctor", "maintenance off"]


def test_services_of_compose_exist() -> None:
    services = set(yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"])
    with_value = {"-v", "--entrypoint", "-c", "-f", "--env-file"}
    named = set()
    for line in MANUAL.replace("\\\n", " ").splitlines():
        if line.startswith("docker compose") and re.search(r" (exec|run) ", line):
            words = shlex.split(line)
            rest = words[next(place for place, word in enumerate(words) if word in ("exec", "run")) + 1 :]
            while rest[0].startswith("-"):
                rest = rest[2 if rest[0] in with_value else 1 :]
            named.add(rest[0])
    assert named
    assert named <= services


@pytest.mark.parametrize("verb", ["stop", "start"])
def test_the_socket_of_the_web_part_is_stopped_and_started_before_the_web_part(verb: str) -> None:
    """While only the web part is stopped, the next connection to its socket starts it again."""
    found = re.findall(rf"systemctl {verb} (podium@[^`\n]*)", MANUAL)
    assert found
    assert [units for units in found if not units.startswith("podium@web.socket podium@web")] == []


@pytest.mark.parametrize("block", BLOCKS, ids=[one.splitlines()[0][:40] for one in BLOCKS])
def test_a_block_of_commands_can_be_parsed_by_a_shell(block: str) -> None:
    shlex.split(block.replace("#", "\\#"))
