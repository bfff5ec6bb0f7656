"""Runs the benchmarks of `make bench` and writes their results to the tables in BENCHMARKS.md.

`python -m tests.benchmarks.bench SECTION…` runs only the given sections and leaves the others unchanged. Each module in
`sections` has the name of its section, and contains a function that yields the rows of the table; see `rows`.
"""

import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks.rows import FOLDER, ROOT, Section
from tests.benchmarks.sections.json_tracks import json_tracks
from tests.benchmarks.sections.labels import labels
from tests.benchmarks.sections.leaderboards import leaderboards
from tests.benchmarks.sections.masks import masks
from tests.benchmarks.sections.private_facts import private_facts
from tests.benchmarks.sections.ranks import rank_intervals
from tests.benchmarks.sections.recording import recordings
from tests.benchmarks.sections.reports import reports
from tests.benchmarks.sections.scoring import scoring
from tests.benchmarks.sections.service import service

# The sections in the order of BENCHMARKS.md
SECTIONS: Mapping[str, Section] = {
    "scoring": scoring,
    "privacy": private_facts,
    "reports": reports,
    "masks": masks,
    "json": json_tracks,
    "labels": labels,
    "service": service,
    "ranks": rank_intervals,
    "leaderboards": leaderboards,
    "recording": recordings,
}


def processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def main(*chosen: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in chosen or SECTIONS:
        table = ["| measure | required | target | measured | computed from |", "|---|---|---|---|---|"]
        print(*table, sep="\n")
        for found in SECTIONS[name]():
            table.append("| " + " | ".join(found) + " |")
            print(table[-1], flush=True)
        day = datetime.now(UTC).date()
        machine = f"{processor()}, Python {platform.python_version()}, load average {os.getloadavg()[2]:.0f}"
        head = f"Measured on {day}: {machine}.\n\n"
        file = ROOT / "BENCHMARKS.md"
        file.write_text(with_section(file.read_text(), name, head + "\n".join(table)))


def with_section(text: str, name: str, content: str) -> str:
    """Return the content of BENCHMARKS.md with one section replaced or added."""
    head, *parts = text.rstrip().split("\n\n## ")
    kept = dict(part.split("\n\n", 1) for part in parts) | {name.capitalize(): content}
    order = [one for one in map(str.capitalize, SECTIONS) if one in kept]
    return "\n\n## ".join([head, *(f"{one}\n\n{kept[one]}" for one in order)]) + "\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
