"""The `podium` client works with a real server, even if connections are cut and the server restarts."""

import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings

from tests.flows.crawling import Visitor
from tests.flows.cutting import cutting
from tests.flows.running import Running, wait_for

pytestmark = [pytest.mark.processes, pytest.mark.enable_socket]

PASSWORD = "correct horse battery"
MIB = 2**20
PEOPLE = """
import sys, django; django.setup()
from server.accounts.models import User
User.objects.create_user(sys.argv[1], f"{sys.argv[1]}@example.org", sys.argv[2])
"""
CLOSE = """
import django; django.setup()
from datetime import UTC, datetime, timedelta
from server.challenges.models import Phase
Phase.objects.update(closes_at=datetime.now(UTC) - timedelta(seconds=5))
"""


class Client:
    """The `podium` client of one user, with its own configuration folder."""

    def __init__(self, home: Path, service: Running, *, token: str = "", port: int = 0) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PODIUM_")}
        self.url = f"http://127.0.0.1:{port or service.port}"
        self.environment = {**kept, "XDG_CONFIG_HOME": str(home), "PODIUM_SERVER": self.url}
        if token:
            self.environment["PODIUM_TOKEN"] = token

    def popen(self, *words: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "evaluator", *words]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        # If pytest runs in the background, it ignores SIGINT, and child processes inherit this. Reset it for the
        # client.
        heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        return subprocess.Popen(command, cwd=settings.BASE_DIR, env=self.environment, preexec_fn=heed, **pipes)

    def run(self, *words: str) -> tuple[int, str, str]:
        process = self.popen(*words)
        said, errors = process.communicate(timeout=120)
        return process.returncode, said, errors

    def json(self, *words: str) -> Any:
        code, said, errors = self.run(*words, "--json")
        assert code == 0, errors
        return json.loads(said)


@pytest.fixture
def ada(service: Running, tmp_path: Path) -> Client:
    return Client(tmp_path / "config", service, token=service.token)


def fresh(predictions: Path, folder: Path) -> Path:
    """Write a copy of the predictions in random order, so that the server does not reject the file as a duplicate."""
    lines = (predictions / "predictions.csv").read_text().splitlines()
    header, rows = lines[0], lines[1:]
    random.shuffle(rows)
    file = folder / "predictions.csv"
    file.write_text("\n".join([header, *rows]) + "\n")
    return file


def approve(service: Running, name: str, code: str) -> None:
    """Approve a login on the web pages, like a user in a browser."""
    visitor = Visitor(service, name).log_in(PASSWORD)
    for fields in ({"code": code}, {"code": code, "decision": "approve"}):
        form = urlencode({**fields, "csrfmiddlewaretoken": visitor.cookies["csrftoken"]})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        status, page = visitor.ask("POST", "/accounts/device", form, **kind)
        assert status == 200, page


def test_a_user_can_log_in_and_submit_a_file_that_is_scored(
    service: Running, predictions: Path, tmp_path: Path
) -> None:
    assert service.run("-c", PEOPLE, "grace", PASSWORD).returncode == 0
    client = Client(tmp_path / "config", service)
    login = client.popen("login", client.url, "--no-browser")
    assert login.stderr
    told = "".join(login.stderr.readline() for _ in range(2))
    found = re.search(r"approve the code (\S+)", told)
    assert found, told
    approve(service, "grace", found[1])
    login.communicate(timeout=60)
    assert login.returncode == 0
    (token,) = (tmp_path / "config" / "podium" / "tokens").iterdir()
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert client.json("whoami")["username"] == "grace"
    assert client.run("join", "flows")[0] == 64
    assert client.json("join", "flows", "--accept-rules")["team"] == "grace"
    file = fresh(predictions, tmp_path)
    wait_for(lambda: client.run("kit", "flows", "--out", str(tmp_path / "kit.json"))[0] == 0)
    code, said, _ = client.run("check", "--challenge", "flows", str(file))
    assert (code, "no defects" in said) == (0, True)
    code, said, errors = client.run("submit", "flows", "-f", str(file), "-m", "erster Versuch ä", "--wait")
    assert (code, errors) == (0, "")
    assert re.search(r"public mAP 0\.\d{5}", said)
    listed = client.json("submissions", "flows")["submissions"]
    assert [(one["status"], one["note"]) for one in listed] == [("scored", "erster Versuch ä")]
    assert client.json("submission", listed[0]["id"])["id"] == listed[0]["id"]
    assert client.json("quota", "flows")["used"] == 1
    assert client.json("team", "flows")["team"]["members"][0]["user"] == "grace"
    assert "/invitations/" in client.json("team", "flows", "invite")["link"]
    assert client.run("team", "flows", "invite", "nobody")[0] == 4
    assert "grace" in client.run("leaderboard", "flows", "-f", "csv")[1]
    assert client.run("logout")[0] == 0
    assert client.run("whoami")[0] == 4


def test_a_rejected_file_exits_with_2(ada: Client, tmp_path: Path) -> None:
    file = tmp_path / "broken.csv"
    file.write_text(f"ImageId,PredictionString\nimage,/m/0jbk nan 0 0 1 1\n{random.random()},\n")
    code, said, _ = ada.run("submit", "flows", "-f", str(file), "--wait")
    assert (code, "not_finite" in said) == (2, True)
    assert ada.run("check", "--challenge", "flows", str(file))[0] == 2


def test_a_file_in_which_nothing_can_score_exits_with_2_unless_it_is_forced(
    ada: Client, predictions: Path, tmp_path: Path
) -> None:
    images = {line.partition(",")[0] for line in (predictions / "predictions.csv").read_text().splitlines()[1:]}
    file = tmp_path / "template.csv"
    file.write_text("\n".join(["ImageId,PredictionString", *(f"{image}," for image in sorted(images))]) + "\n")
    code, said, _ = ada.run("submit", "flows", "-f", str(file), "--wait")
    assert (code, "nothing_to_score" in said, "--force" in said) == (2, True, True)
    code, said, errors = ada.run("submit", "flows", "-f", str(file), "--wait", "--force")
    assert (code, "public mAP 0.00000" in said) == (0, True), errors


def test_despite_three_cut_connections_there_is_one_submission_with_the_same_bytes(
    service: Running, tmp_path: Path
) -> None:
    content = random.Random(7).randbytes(50 * MIB)
    file = tmp_path / "large.csv"
    file.write_bytes(content)
    before = service.count("submissions_submission")
    with cutting(service.port, 9 * MIB, 22 * MIB, 37 * MIB) as cutter:
        client = Client(tmp_path / "config", service, token=service.token, port=cutter.port)
        code, said, errors = client.run("submit", "flows", "-f", str(file), "--json")
        # The file contains random bytes, so `podium submit` exits with 2 if the worker has already rejected it.
        assert (code in (0, 2), cutter.done) == (True, 3), errors
    # The connection was cut three times. After each cut, the client resends at most one part of 5 MiB.
    assert cutter.sent < 50 * MIB + 3 * 5 * MIB
    assert service.count("submissions_submission") == before + 1
    assert json.loads(said)["sha256"] == sha256(content).hexdigest()
    assert not list((tmp_path / "config" / "podium" / "uploads").iterdir())


def test_an_interrupted_upload_is_continued_by_the_same_command(service: Running, tmp_path: Path) -> None:
    file = tmp_path / "large.csv"
    file.write_bytes(random.Random(8).randbytes(50 * MIB))
    with cutting(service.port, hold_at=10 * MIB) as cutter:
        client = Client(tmp_path / "config", service, token=service.token, port=cutter.port)
        first = client.popen("submit", "flows", "-f", str(file))
        wait_for(lambda: cutter.sent >= 10 * MIB)
        first.send_signal(signal.SIGINT)
        errors = first.communicate(timeout=60)[1]
        assert (first.returncode, "continue the upload" in errors) == (130, True)
        cutter.released.set()
        # The file contains random bytes, so `podium submit` exits with 2 if the worker has already rejected it.
        assert client.run("submit", "flows", "-f", str(file))[0] in (0, 2)
        assert cutter.sent < 50 * MIB + 6 * MIB


def test_two_commands_with_the_same_file_create_one_submission(service: Running, ada: Client, tmp_path: Path) -> None:
    file = tmp_path / "twice.csv"
    file.write_bytes(random.Random(9).randbytes(20 * MIB))
    before = service.count("submissions_submission")
    both = [ada.popen("submit", "flows", "-f", str(file)) for _ in range(2)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in both]
    assert service.count("submissions_submission") == before + 1
    # The file contains random bytes, so `podium submit` exits with 2 if the worker has already rejected it.
    assert {code for _, code in ended} <= {0, 2, 4}, ended


def test_a_restart_of_the_server_does_not_end_the_wait(
    service: Running, ada: Client, predictions: Path, tmp_path: Path
) -> None:
    service.freeze()
    before = service.count("submissions_submission")
    process = ada.popen("submit", "flows", "-f", str(fresh(predictions, tmp_path)), "--wait")
    wait_for(lambda: service.count("submissions_submission") == before + 1)
    service.send(signal.SIGKILL)
    service.stop_processes()
    assert process.poll() is None
    service.start()
    said, errors = process.communicate(timeout=120)
    assert (process.returncode, "scored" in said) == (0, True), errors


def test_a_server_that_is_down_exits_with_75(ada: Client) -> None:
    code, _, errors = ada.run("whoami", "--server", "http://127.0.0.1:9")
    assert (code, "cannot be reached" in errors) == (75, True)


def test_a_closed_phase_exits_with_4(service: Running, ada: Client, predictions: Path, tmp_path: Path) -> None:
    closes_at = service.rows("SELECT closes_at FROM challenges_phase")
    assert closes_at == [(None,)]
    assert service.run("-c", CLOSE).returncode == 0
    try:
        file = fresh(predictions, tmp_path)
        code, said, errors = ada.run("submit", "flows", "--phase", "main", "-f", str(file), "--wait", "--json")
        assert (code, json.loads(said)["error"]["code"]) == (4, "phase_closed"), errors
    finally:
        reopen = CLOSE.replace("datetime.now(UTC) - timedelta(seconds=5)", "None")
        assert service.run("-c", reopen).returncode == 0
