"""The settings of the service, with a temporary state folder, fast password hashes and no collected static files."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

os.environ["PODIUM_HOME"] = tempfile.mkdtemp(prefix="podium-tests-")  # Each test process uses a separate folder.
atexit.register(shutil.rmtree, os.environ["PODIUM_HOME"], ignore_errors=True)
os.environ.setdefault("LOG_LEVEL", "WARNING")
# The default number of worker processes depends on the machine. Some tests need three of them, so that two submissions
# of a team can be scored at the same time.
os.environ.setdefault("WORKER_PROCESSES", "3")
if redis := os.environ.get("TEST_SERVICES"):  # Each test process has its own database in the Redis of `tests.services`.
    os.environ["REDIS_URL"] = f"{redis}/{os.environ.get('PYTEST_XDIST_WORKER', 'gw0').removeprefix('gw')}"

from server.settings import *  # noqa: E402, F403
from server.settings import DATABASES  # noqa: E402

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "server.submissions.storage.DurableStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# The folder for collected static files is empty, so that test clients do not have to search it.
STATIC_ROOT = Path(os.environ["PODIUM_HOME"]) / "static"
STATIC_ROOT.mkdir()
CELERY_BROKER_URL = "memory://"

if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    from tests.migrated_database import PREFIX

    # Connections have no maximum age, because a test that rolls back its changes needs the same connection throughout.
    # Commits do not wait for the disk, because tests need no data after a crash of the database server.
    DATABASES["default"] |= {
        "CONN_MAX_AGE": None,
        "OPTIONS": {"options": "-c synchronous_commit=off"},
        "TEST": {"NAME": f"{PREFIX}_tests"},
    }
