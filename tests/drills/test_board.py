"""After random actions in random order, the leaderboards match a simple computation from database rows."""

import random
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended, counted
from tests.drills.ranking_by_hand import board_by_hand, served_board
from tests.flows.running import Running

pytestmark = pytest.mark.processes

EVENTS, TEAMS, FINALS, SEED = 1000, 14, 2, 20
TERMS = f"split: {{public: 0.5}}, finals: {FINALS}, baselines: [{{name: Sample, file: baselines/one.csv}}], quota:"
SIGN_UP = """
import sys, django; django.setup()
from server.accounts.models import User
from server.accounts.services import issue_token
for name in sys.argv[1:]:
    user = User.objects.create_user(name, f"{name}@example.org", "correct horse battery")
    print(issue_token(user=user, name="drill", scope="submit", days=1)[1])
"""
CLOSE = """
import django; django.setup()
from server.challenges.models import Phase
from server.clock import database_now
Phase.objects.update(closes_at=database_now())
"""


def with_baseline_and_split(small: Path, folder: Path) -> Path:
    """Write a copy of the small challenge that has a baseline and in which half of the images are private."""
    shutil.copytree(small, folder)
    phase = folder / "phases" / "main"
    (phase / "baselines").mkdir()
    lines = (folder / "predictions.csv").read_text().splitlines(keepends=True)
    (phase / "baselines" / "one.csv").write_text("".join(lines[:9]))
    sheet = folder / "challenge.yaml"
    sheet.write_text(sheet.read_text().replace("quota:", TERMS))
    return folder


class Crowd:
    """Teams that use the API at random: they join, upload, cancel, and select final submissions."""

    def __init__(self, service: Running, tokens: list[str], content: str) -> None:
        self.service, self.tokens, self.random = service, tokens, random.Random(SEED)
        self.header, *self.rows = content.splitlines(keepends=True)
        self.sent: list[tuple[str, str]] = []
        self.contents: list[str] = []
        self.done: Counter[str] = Counter()

    def act(self) -> None:
        deeds = (self.join, self.upload, self.upload_again, self.upload_nonsense, self.cancel, self.choose)
        deed = self.random.choices(deeds, (8, 40, 10, 10, 14, 18))[0]
        self.service.token = self.random.choice(self.tokens)
        status = deed()
        self.done[f"{deed.__name__.replace('_', ' ')} {status}"] += 1

    def join(self) -> int:
        body = b'{"accept_rules": true}'
        headers = {"Content-Type": "application/json"}
        return self.service.ask("POST", "/api/v1/challenges/flows/join", body, **headers)[0]

    def send(self, content: str) -> int:
        status, answer = self.service.upload(content.encode())
        if status == 201:
            self.sent.append((self.service.token, answer["id"]))
        return status

    def upload(self) -> int:
        some = self.random.sample(self.rows, self.random.randint(1, len(self.rows)))
        self.contents.append(self.header + "".join(some))
        return self.send(self.contents[-1])

    def upload_again(self) -> int:
        """Upload an earlier file again.

        A file from the same team is a duplicate, and a file from another team causes a tie.
        """
        return self.send(self.random.choice(self.contents)) if self.contents else 0

    def upload_nonsense(self) -> int:
        return self.send(f"{self.header}nonsense{self.random.random()},1 2 3\n")

    def cancel(self) -> int:
        """Cancel one of the two newest submissions, which may still be queued."""
        if not self.sent:
            return 0
        self.service.token, identifier = self.random.choice(self.sent[-2:])
        return self.service.ask("POST", f"/api/v1/submissions/{identifier}/cancel")[0]

    def choose(self) -> int:
        """Choose a random submission as a final submission of its team, or undo such a choice."""
        if not self.sent:
            return 0
        self.service.token, identifier = self.random.choice(self.sent)
        body = self.random.choice([b'{"final": true}', b'{"final": true}', b'{"final": false}'])
        headers = {"Content-Type": "application/json"}
        return self.service.ask("PATCH", f"/api/v1/submissions/{identifier}", body, **headers)[0]


@pytest.mark.drill(20)
def test_after_a_thousand_random_events_leaderboards_agree_with_the_database(
    opened: Open, small: Path, figures: Figures, tmp_path: Path
) -> None:
    service = opened(bundle=with_baseline_and_split(small, tmp_path / "bundle"), WORKER_PROCESSES=1)
    signed_up = service.run("-c", SIGN_UP, *(f"person{number}" for number in range(TEAMS)))
    crowd = Crowd(service, signed_up.stdout.split(), (small / "predictions.csv").read_text())
    began = time.monotonic()
    for _ in range(EVENTS):
        crowd.act()
    seconds = time.monotonic() - began
    all_ended(service, seconds=120)
    public, public_by_hand = (
        served_board(service, split="public"),
        board_by_hand(service, split="public", finals=FINALS),
    )
    assert service.run("-c", CLOSE).returncode == 0
    private = served_board(service, split="private")
    private_by_hand = board_by_hand(service, split="private", finals=FINALS)
    seen, statuses = counted(service), service.statuses()
    ties = len(public) - len({line.score for line in public})
    figures(
        f"{EVENTS} events in {seconds:.0f} s ({dict(sorted(statuses.items()))}, {seen.twice} scored twice): "
        f"{len(public)} lines with {ties} ties and {len(private)} private lines equal to those by hand"
    )
    print(crowd.done)
    assert public == public_by_hand
    assert private == private_by_hand
    assert len(private) == len(public) > TEAMS // 2
    assert (seen.lost, seen.twice) == (0, 0)
    assert min(statuses[status] for status in ("scored", "rejected", "cancelled")) > 0
    assert not [deed for deed in crowd.done if deed.endswith(("500", "502", "503"))]
