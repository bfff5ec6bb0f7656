"""The worker that scores files never sends emails. It has no task that sends emails and does not read their queue."""

import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings
from django.core import mail

from evaluator import scoring
from server.challenges.models import Phase, Team
from server.notices.services import mails
from server.runtime import parts
from tests.conftest import InlineQueue, Make
from tests.server.notices.conftest import choose_all
from tests.worker.test_tasks import report

KNOWN = """
from worker import app
print([name for name in app.tasks if name.startswith("mail")], app.conf.task_default_queue)
"""


def test_the_worker_does_not_know_the_task_that_sends_mails() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KNOWN], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[] celery"


def test_only_the_sender_reads_the_queue_of_mails() -> None:
    assert mails.QUEUE in parts.sweeper()["mailer"].command
    assert mails.QUEUE not in parts.worker()["worker"].command


def test_scoring_sends_no_mail(
    phase: Phase, team: Team, make: Make, inline_queue: InlineQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose_all(team.memberships.get().user)

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("scoring has opened a connection to the mail server")

    monkeypatch.setattr(mails, "get_connection", refuse)
    monkeypatch.setattr(scoring, "score", lambda request: report())
    one = make.submission(phase, team)
    inline_queue.work()
    one.refresh_from_db()
    assert one.status == "scored"
    assert mail.outbox == []
