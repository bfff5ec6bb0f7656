"""The real settings, with a state folder of the tests' own, cheap password hashes and no collected static files."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

os.environ["PODIUM_HOME"] = tempfile.mkdtemp(prefix="podium-tests-")  # one for each of the processes that test
atexit.register(shutil.rmtree, os.environ["PODIUM_HOME"], ignore_errors=True)
os.environ.setdefault("LOG_LEVEL", "WARNING")
os.environ.setdefault("WORKER_PROCESSES", "3")  # whatever this machine has: two evaluations of a team run at once

from server.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "server.submissions.storage.DurableStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
STATIC_ROOT = (
    Path(os.environ["PODIUM_HOME"]) / "static"
)  # empty: every test client would look through all collected files
STATIC_ROOT.mkdir()
CELERY_BROKER_URL = "memory://"
