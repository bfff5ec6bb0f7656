"""Parses a file with `json.loads` several times, and prints the lowest CPU time and the peak memory as JSON.

Usage: `measure_json.py FILE TIMES`. Reading the file and deleting the parsed value are not measured.
"""

import json
import sys
from pathlib import Path
from time import process_time

from tests.benchmarks.measure import peak


def main(file: str, times: str) -> None:
    text = Path(file).read_text(encoding="utf-8")
    cpu = []
    for _ in range(int(times)):
        before = process_time()
        value = json.loads(text)
        cpu.append(process_time() - before)
        del value
    print(json.dumps({"cpu": min(cpu), "rss": peak()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
