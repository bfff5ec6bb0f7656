"""Converts a submission from one CSV layout to the other. Values are copied as strings, so the score is the same."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from evaluator.catalog import TRACKS, Limits
from evaluator.files.portions import Row
from evaluator.files.rows import RowReader
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission, Problem, Stop


def convert(track: str, to: str, source: Path, out: TextIO) -> None:
    """Write the submission ``source`` to ``out`` in the layout ``to``, which is ``kaggle`` or ``long``.

    An image without predictions has no row in the long layout.

    Raises
    ------
    InvalidParameters
        If submissions to this track have only one layout.
    InvalidSubmission
        If a row has a defect, if a label contains a blank and therefore cannot be a token, or if rows of the same image
        contain different image sizes.
    """
    form = TRACKS[track].form
    if not form.tokens:
        raise InvalidParameters(f"a submission to {track} has only one layout; there is nothing to convert")
    findings = Findings()
    reader = RowReader(form, Limits(), findings)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(form.kaggle_header if to == "kaggle" else form.long_header)
    if to == "long":
        for row in _valid_rows(reader, source):
            for texts in _ordered(row, reader, [column.name for column in form.predicted]):
                writer.writerow((row.image, *row.image_cells, *texts))
    else:
        strings: dict[str, list[str]] = {}
        sizes: dict[str, tuple[str, ...]] = {}
        for row in _valid_rows(reader, source):
            words = strings.setdefault(row.image, [])
            _check_size(sizes.setdefault(row.image, tuple(row.image_cells)), row, findings)
            for texts in _ordered(row, reader, [column.name for column in form.tokens]):
                _check_tokens(texts, row, findings)
                words.extend(texts)
        writer.writerows((image, *sizes[image], " ".join(words)) for image, words in strings.items())
    if findings.total:
        raise InvalidSubmission(findings)


def _valid_rows(reader: RowReader, source: Path) -> Iterator[Row]:
    try:
        for portion in reader.portions(source, lambda fraction: None):
            for _, code, defect in portion.defects:
                reader.findings.count(code, defect)
            yield from portion.rows
    except Stop:
        raise InvalidSubmission(reader.findings) from None


def _ordered(row: Row, reader: RowReader, names: list[str]) -> Iterator[list[str]]:
    """Yield the values of each prediction in a row, as strings in the order of the columns ``names``."""
    positions = {column.name: position for position, column in enumerate(reader.layout)}
    width = len(reader.layout)
    for start in range(0, len(row.texts), width):
        yield [row.texts[start + positions[name]] for name in names]


def _check_size(first: tuple[str, ...], row: Row, findings: Findings) -> None:
    """Record a defect if the image size in a row differs from the size in the first row of the same image."""
    if tuple(row.image_cells) != first:
        message = (
            f"the image size is {' × '.join(row.image_cells)} in this row, but {' × '.join(first)} in an earlier "
            "row of the image; expected one size for each image"
        )
        findings.add(Problem("bad_mask", message, line=row.line, image=row.image))


def _check_tokens(texts: list[str], row: Row, findings: Findings) -> None:
    for text in texts:
        if not text or " " in text or "\t" in text:
            message = f"{text!r} is empty or contains a space or tab, which separate the tokens of a prediction string"
            findings.add(Problem("bad_tokens", message, line=row.line, image=row.image))
