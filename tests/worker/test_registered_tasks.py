"""The worker has a task for every message that the server sends to it."""

import subprocess
import sys

from django.conf import settings

from server.organize.services.kits import MAKE_KIT
from server.submissions.queue import QUEUES

KNOWN = """
from worker import app
app.loader.import_default_modules()
print(*(name for name in app.tasks if name.startswith("worker.")))
"""


def test_every_task_that_the_server_sends_is_registered() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KNOWN], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )
    assert set(ended.stdout.split()) == {MAKE_KIT, *(queue.task for queue in QUEUES.values())}
