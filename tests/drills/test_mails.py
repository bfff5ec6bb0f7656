"""Even if the sending process is killed, notification emails are sent at least once, and rarely twice."""

import socketserver
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import all_ended, upload_all
from tests.flows.running import wait_for

pytestmark = pytest.mark.processes

MAILS, KILLS, PAUSE = 120, 4, 0.02
SENDER = "--queues mail"
ANNOUNCE = f"""
import django; django.setup()
from server.accounts.models import User
from server.challenges.models import Challenge
from server.challenges.services import join
from server.notices.models import MailChoice
from server.notices.services import announcing
challenge = Challenge.objects.get(slug="flows")
for number in range({MAILS}):
    user = User.objects.create_user(f"reader{{number}}", f"reader{{number}}@example.org")
    join(user=user, challenge=challenge, accept_rules=True)
    MailChoice.objects.create(user=user, kind="announced")
root = User.objects.create_superuser("root", "root@example.org")
announcing.announce(challenge=challenge, by=root, title="News", text="News")
"""
END_LEASES = """
import django; django.setup()
from server.clock import database_now
from server.notices.models import Notice
Notice.objects.filter(mail_at__isnull=False).update(mail_at=database_now())
"""
RECEIVED: Counter[str] = Counter()  # Number of times that the mail server has accepted each email, by Message-ID.
LEFT = "SELECT count(*) FROM notices_notice WHERE mail_at IS NOT NULL"


class Mailbox(socketserver.StreamRequestHandler):
    """A slow mail server that counts the emails that it has accepted."""

    def handle(self) -> None:
        # The connection is reset if the sending process is killed. Ignore this, because the test kills the process.
        with suppress(ConnectionError):
            self.talk()

    def talk(self) -> None:
        self.say("220 mailbox")
        while line := self.rfile.readline().decode().strip():
            verb = line.split()[0].upper()
            if verb == "DATA":
                self.say("354 go on")
                self.accept()
            self.say("221 bye" if verb == "QUIT" else "250 ok")
            if verb == "QUIT":
                return

    def accept(self) -> None:
        name = ""
        while (line := self.rfile.readline().decode()) not in (".\r\n", ""):
            if line.startswith("Message-ID:"):
                name = line.split(":", 1)[1].strip()
        time.sleep(PAUSE)
        # After the last line of an email, `line` is a single dot. If the connection was lost earlier, `line` is empty.
        if line:
            RECEIVED[name] += 1

    def say(self, text: str) -> None:
        self.wfile.write(f"{text}\r\n".encode())


@contextmanager
def mailbox() -> Iterator[int]:
    """Run a mail server, and yield its port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mailbox) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


@pytest.mark.drill(28)
def test_no_mail_is_lost_if_the_sender_is_killed(opened: Open, small: Path, figures: Figures) -> None:
    RECEIVED.clear()
    with mailbox() as port:
        mails = {"EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend", "EMAIL_PORT": port}
        service = opened(EMAIL_HOST="127.0.0.1", CONFIRM_EMAIL="false", **mails)
        made = service.run("-c", ANNOUNCE)
        assert made.returncode == 0, made.stderr
        for number in range(1, KILLS + 1):
            wait_for(lambda number=number: len(RECEIVED) >= number * MAILS // (KILLS + 2), seconds=120)
            assert service.signal_all(SENDER, 9)
            assert service.run("-c", END_LEASES).returncode == 0
        upload_all(service, (small / "predictions.csv").read_bytes(), count=3)
        seconds = all_ended(service, seconds=120)
        wait_for(lambda: service.rows(LEFT)[0][0] == 0, seconds=240)
    twice = sum(RECEIVED.values()) - len(RECEIVED)
    figures(
        f"{KILLS} kills: {MAILS} mails, {MAILS - len(RECEIVED)} lost, {twice} sent twice; 3 files scored "
        f"meanwhile in {seconds:.1f} s"
    )
    assert len(RECEIVED) == MAILS
    assert twice <= KILLS
    assert service.statuses()["scored"] == 3
