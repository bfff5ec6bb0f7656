"""The real settings, with a state folder of the tests' own, cheap password hashes and no collected static files."""

import atexit
import os
import shutil
import tempfile

os.environ["PODIUM_HOME"] = tempfile.mkdtemp(prefix="podium-tests-")  # one for each of the processes that test
atexit.register(shutil.rmtree, os.environ["PODIUM_HOME"], ignore_errors=True)
os.environ.setdefault("LOG_LEVEL", "WARNING")

from server.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "server.submissions.storage.DurableStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
CELERY_BROKER_URL = "memory://"
