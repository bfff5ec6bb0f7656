"""The rows of the section Service: how long a running service takes to process a file of 100 kB."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from tests.benchmarks.rows import ROOT, Goal, Row, ratio
from tests.benchmarks.scored_files import made

SCORE = Goal("100 kB in a warm worker / a bare Celery round trip", 4, 3)
PAGE = Goal("100 kB: upload to score, intervals and report, idle service, wall / a bare Celery round trip", 60, 30)


def service() -> Iterator[Row]:
    """Measure a service in a process of its own, because Django can be set up only once."""
    words = [sys.executable, "-m", "tests.benchmarks.service", str(made().small.parent)]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout)
    for goal, name in ((SCORE, "scoring"), (PAGE, "page")):
        behind = f"{median(found[name]) * 1e3:.1f} ms / {median(found['nothing']) * 1e3:.1f} ms"
        yield goal.met_by(ratio(found[name], found["nothing"]), behind)
