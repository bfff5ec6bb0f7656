"""The settings of the service, with a temporary state folder, fast password hashes and no collected static files."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

os.environ["PODIUM_HOME"] = tempfile.mkdtemp(prefix="podium-tests-")  # Each test process has its own folder.
atexit.register(shutil.rmtree, os.environ["PODIUM_HOME"], ignore_errors=True)
os.environ.setdefault("LOG_LEVEL", "WARNING")
# With three worker processes on every machine, two submissions of a team can be scored at once.
os.environ.setdefault("WORKER_PROCESSES", "3")

from server.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "server.submissions.storage.DurableStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# The folder is empty. Otherwise, every test client would search all collected files.
STATIC_ROOT = Path(os.environ["PODIUM_HOME"]) / "static"
STATIC_ROOT.mkdir()
CELERY_BROKER_URL = "memory://"
