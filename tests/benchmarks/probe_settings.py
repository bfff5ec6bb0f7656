"""The project's settings; in addition, the worker imports the probe."""

from server.settings import *  # noqa: F403

CELERY_IMPORTS = ["tests.benchmarks.probe"]
