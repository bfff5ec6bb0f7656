"""The web process loads all views before it forks, but neither numpy nor pandas."""

import subprocess
import sys

import pytest

LOADED = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
import server.wsgi
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return set(
        subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True).stdout.split()
    )


def test_every_view_is_loaded_before_the_first_request(loaded: set[str]) -> None:
    assert {"server.urls", "server.api.views.submissions", "server.pages.urls"} <= loaded


@pytest.mark.parametrize("module", ["numpy", "pandas", "numba", "evaluator.scoring", "evaluator.tracks", "worker"])
def test_the_web_process_does_not_load_the_module(loaded: set[str], module: str) -> None:
    assert module not in loaded
