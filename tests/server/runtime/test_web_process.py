"""The web process does not load numpy or pandas."""

import subprocess
import sys

import pytest

LOADED = """
import os, sys, django
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
django.setup()
import server.wsgi
from django.urls import get_resolver
get_resolver().url_patterns
print(*sys.modules)
"""


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return set(
        subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True).stdout.split()
    )


def test_the_probe_loads_every_view(loaded: set[str]) -> None:
    assert {"server.urls", "server.api.views.submissions", "server.pages.urls"} <= loaded


@pytest.mark.parametrize("module", ["numpy", "pandas", "numba", "evaluator.scoring", "evaluator.tracks", "worker"])
def test_the_web_process_does_not_load_the_module(loaded: set[str], module: str) -> None:
    assert module not in loaded
