"""The real settings, with the bare view and without limits on requests."""

from server.settings import *  # noqa: F403

ROOT_URLCONF = "tests.benchmarks.board_urls"
API_REQUESTS_PER_MINUTE = API_ANONYMOUS_REQUESTS_PER_MINUTE = 1_000_000
ALLOWED_HOSTS = ["testserver"]
