"""The real settings, with a worker that has the probe on board."""

from server.settings import *  # noqa: F403

CELERY_IMPORTS = ["tests.benchmarks.probe"]
