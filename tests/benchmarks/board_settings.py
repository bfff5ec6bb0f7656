"""The settings of the service, without rate limits and with a minimal view as a baseline for leaderboard requests."""

from server.settings import *  # noqa: F403
from server.settings import ALLOWED_HOSTS as OF_THE_SERVICE

ROOT_URLCONF = "tests.benchmarks.board_urls"
API_REQUESTS_PER_MINUTE = API_ANONYMOUS_REQUESTS_PER_MINUTE = 1_000_000
ALLOWED_HOSTS = [*OF_THE_SERVICE, "testserver", "127.0.0.1"]
