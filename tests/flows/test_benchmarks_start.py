"""Every program that `make bench` runs starts without an error."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PROGRAMS = sorted(path.stem for path in BENCHMARKS.glob("*.py") if 'if __name__ == "__main__":' in path.read_text())


def test_the_list_of_programs_contains_the_benchmark() -> None:
    assert "bench" in PROGRAMS


# The programs `peer_…` are left out, because each of them needs a package that only `make bench` installs.
@pytest.mark.parametrize("name", [name for name in PROGRAMS if not name.startswith("peer_")])
def test_a_program_of_the_benchmark_can_be_imported_in_a_new_process(name: str) -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-c", f"import tests.benchmarks.{name}"]

    done = subprocess.run(command, cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True)

    assert done.returncode == 0, done.stderr
