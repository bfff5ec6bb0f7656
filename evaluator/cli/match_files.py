"""Writes the outcome of each prediction and of each missed object to a CSV or Parquet file, row by row."""

import csv
from argparse import ArgumentTypeError
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from evaluator.cli.output import atomic_file, atomic_path
from evaluator.cli.usage import new_file
from evaluator.report import Report

PARQUET = ".parquet"
# A Parquet file is written in groups of this many rows. Only one group at a time is in memory.
ROWS_PER_GROUP = 1 << 16


def matches_file(text: str) -> Path:
    """Convert an argument to the path of a CSV or Parquet file to write. Parquet files need an optional package."""
    path = new_file(text)
    if path.suffix == PARQUET and find_spec("pyarrow") is None:
        raise ArgumentTypeError(
            "Parquet files need the package pyarrow: pip install 'podium[parquet]', or write FILE.csv"
        )
    return path


def write_matches(report: Report, *, to: Path) -> None:
    """Write one row for each prediction and its outcome, and one row for each missed object.

    The file is a Parquet file if its name ends in ``.parquet``; otherwise, it is a CSV file. Numbers are not rounded.
    """
    if to.suffix == PARQUET:
        _write_parquet(report, to)
        return
    with atomic_file(to) as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(report.matches.columns)
        rows.writerows(report.matches.rows())


def _write_parquet(report: Report, to: Path) -> None:
    """Write the matches as a Parquet file. Empty cells become nulls. The metadata has the track and the signature."""
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    matches, rows = report.matches, report.matches.rows()
    types = {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
    kinds = [types[matches.types.get(name, str)] for name in matches.columns]
    metadata = {"track": report.track, "signature": report.signature}
    schema = arrow.schema(list(zip(matches.columns, kinds, strict=True)), metadata=metadata)
    with atomic_path(to) as partial, parquet.ParquetWriter(partial, schema) as writer:
        while group := list(islice(rows, ROWS_PER_GROUP)):
            columns = zip(*group, strict=True)
            arrays = [arrow.array(_or_null(cells), kind) for cells, kind in zip(columns, kinds, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def _or_null(cells: tuple[Any, ...]) -> list[Any]:
    return [None if cell == "" else cell for cell in cells]
