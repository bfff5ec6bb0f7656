"""Runs tests on PostgreSQL and on Redis over TCP. Usage: `python -m tests.services [arguments of pytest]`.

Unless a file or folder is given, all tests that use a database, a broker or the processes of the service are run.
DATABASE_URL is the URL of a PostgreSQL server on which databases can be created. The program starts a new Redis server
with a password.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.flows.redis_server import own_redis

POSTGRES = "postgres://postgres@127.0.0.1:5432/postgres"
FOLDERS = ("tests/server", "tests/worker", "tests/flows")
# Tests of the embedded default (SQLite, private Redis) do not run. Tests that always use their own PostgreSQL run only
# if a file or folder is given, because `make test` runs them, too. Sockets are allowed for Redis over TCP.
NAMED, ALL = "not embedded", "not embedded and not services"


def main(arguments: list[str]) -> int:
    has_paths = any(Path(word.partition("::")[0]).exists() for word in arguments)
    chosen = ["-m", NAMED, *arguments] if has_paths else ["-m", ALL, *arguments, *FOLDERS]
    command = [sys.executable, "-m", "pytest", "-q", "--force-enable-socket", *chosen]
    with tempfile.TemporaryDirectory(prefix="podium-services-") as folder, own_redis(Path(folder, "redis")) as url:
        servers = {"DATABASE_URL": os.environ.get("DATABASE_URL") or POSTGRES, "TEST_SERVICES": url.rsplit("/", 1)[0]}
        # Importing `server` has set DJANGO_SETTINGS_MODULE to the settings of the service. Tests need `tests.settings`.
        environment = {**os.environ, **servers, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
