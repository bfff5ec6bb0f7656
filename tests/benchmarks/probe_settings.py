"""The real settings, with a worker that loads the probe."""

from server.settings import *  # noqa: F403

CELERY_IMPORTS = ["tests.benchmarks.probe"]
