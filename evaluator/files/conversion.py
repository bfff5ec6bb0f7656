"""A submission in its other shape: the same texts, so the same score to the last bit."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from evaluator.catalog import TRACKS, Limits
from evaluator.files.portions import Row
from evaluator.files.rows import RowReader
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission, Problem, Stop


def convert(track: str, to: str, source: Path, out: TextIO) -> None:
    """Write the submission ``source`` to ``out`` in the shape ``to``: ``kaggle`` or ``long``.

    An image without predictions has no row in the long shape.

    Raises
    ------
    InvalidParameters
        A submission to this track has one shape only.
    InvalidSubmission
        Where a row is not sound, a label holds a blank and cannot be a token, or an image has several sizes.
    """
    form = TRACKS[track].form
    if not form.tokens:
        raise InvalidParameters(f"a submission to {track} has one shape only; there is nothing to convert")
    findings = Findings()
    reader = RowReader(form, Limits(), findings)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(form.kaggle_header if to == "kaggle" else form.long_header)
    if to == "long":
        for row in _sound(reader, source):
            for texts in _ordered(row, reader, [column.name for column in form.predicted]):
                writer.writerow((row.image, *row.beside, *texts))
    else:
        strings: dict[str, list[str]] = {}
        beside: dict[str, tuple[str, ...]] = {}
        for row in _sound(reader, source):
            words = strings.setdefault(row.image, [])
            _check_beside(beside.setdefault(row.image, tuple(row.beside)), row, findings)
            for texts in _ordered(row, reader, [column.name for column in form.tokens]):
                _check_tokens(texts, row, findings)
                words.extend(texts)
        writer.writerows((image, *beside[image], " ".join(words)) for image, words in strings.items())
    if findings.total:
        raise InvalidSubmission(findings)


def _sound(reader: RowReader, source: Path) -> Iterator[Row]:
    try:
        for portion in reader.portions(source, lambda fraction: None):
            for _, code, defect in portion.defects:
                reader.findings.count(code, defect)
            yield from portion.rows
    except Stop:
        raise InvalidSubmission(reader.findings) from None


def _ordered(row: Row, reader: RowReader, names: list[str]) -> Iterator[list[str]]:
    """Yield each prediction's texts in the order of ``names``."""
    places = {column.name: place for place, column in enumerate(reader.layout)}
    width = len(reader.layout)
    for start in range(0, len(row.texts), width):
        yield [row.texts[start + places[name]] for name in names]


def _check_beside(first: tuple[str, ...], row: Row, findings: Findings) -> None:
    """Tell where a row says another size of its image than the first one: a prediction string has only one."""
    if tuple(row.beside) != first:
        message = f"{' × '.join(row.beside)} here, {' × '.join(first)} before: all masks of an image have one size"
        findings.add(Problem("bad_mask", message, line=row.line, image=row.image))


def _check_tokens(texts: list[str], row: Row, findings: Findings) -> None:
    for text in texts:
        if not text or " " in text or "\t" in text:
            message = f"{text!r} is empty or holds a blank; a prediction string parts its tokens by blanks"
            findings.add(Problem("bad_tokens", message, line=row.line, image=row.image))
