"""Scores or explains a file with masks, and prints the lowest CPU time and the peak memory of this process as JSON.

Usage: `measure_masks.py TRUTH FILE TIMES EXPLAINED`. The file is scored TIMES times. If EXPLAINED is 1,
each run also explains the score. The rows of the match table are not written.
"""

import json
import sys
from pathlib import Path
from time import process_time

from evaluator.request import ReportOptions, ScoringRequest
from evaluator.scoring import load_kernels, score
from tests.benchmarks.measure import peak

TRACK = "openimages-segmentation"


def main(truth: str, file: str, times: str, explained: str) -> None:
    load_kernels()
    report = ReportOptions(explanation=explained == "1", curves=explained == "1")
    cpu = []
    for _ in range(int(times)):
        before = process_time()
        score(ScoringRequest(TRACK, Path(truth), Path(file), report=report))
        cpu.append(process_time() - before)
    print(json.dumps({"cpu": min(cpu), "rss": peak()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
