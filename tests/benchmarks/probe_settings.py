"""The settings of the service, extended so that the worker also imports `tests.benchmarks.probe`."""

from server.settings import *  # noqa: F403

CELERY_IMPORTS = ["tests.benchmarks.probe"]
