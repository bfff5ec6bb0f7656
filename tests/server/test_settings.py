"""Settings: documented, and safe for production as they come."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_setting_stands_in_the_example() -> None:
    read = set(re.findall(r"env\.\w+\(\s*\"(\w+)\"", (ROOT / "server/settings.py").read_text()))
    shown = set(re.findall(r"^# (\w+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert read == shown


def test_the_example_can_be_used_with_every_line_uncommented(tmp_path: Path) -> None:
    lines = re.findall(r"^# (\w+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE)
    environment = {**os.environ, **dict(lines), "PODIUM_HOME": str(tmp_path), "SECURE_HSTS_SECONDS": "0"}
    code = "from server import settings as s; print(s.PODIUM_BIND, s.WORKER_PROCESSES, s.PROXIES)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout == "127.0.0.1 2 0\n", done.stderr


def test_production_settings_pass_the_deployment_check(tmp_path: Path) -> None:
    environment = {**os.environ, "PODIUM_HOME": str(tmp_path), "PODIUM_URL": "https://podium.example.org"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
