"""Decides whether `.ci/run` may run failed tests again.

At most three tests may have failed, and all of them must be in tests/flows or tests/browser. These tests start real
processes or browsers, so their outcome can depend on how busy the machine is. A test that needs a second run has a
defect, so this program prints its name. Usage: `python -m tests.second_run`, after pytest has failed.
"""

import json
import sys
from collections.abc import Collection
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")  # pytest writes the ids of the failed tests to this file.
TIMED = ("tests/flows/", "tests/browser/")
MAX_FAILED = 3


def may_run_again(failed: Collection[str]) -> bool:
    """Return whether the failed tests, given by their pytest ids, may run again.

    >>> may_run_again(["tests/flows/test_a.py::test_b"])
    True
    >>> may_run_again(["tests/flows/test_a.py::test_b", "tests/evaluator/test_c.py::test_d"]), may_run_again([])
    (False, False)
    """
    return 0 < len(failed) <= MAX_FAILED and all(test.startswith(TIMED) for test in failed)


if __name__ == "__main__":
    failed = list(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if not may_run_again(failed):
        sys.exit("The failed tests do not run again.")
    print("UNSTABLE: these tests failed and run again, alone. Find out why they failed:", *failed, sep="\n  ")
