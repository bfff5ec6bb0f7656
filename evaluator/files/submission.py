"""Reads a CSV submission in either layout (a row per prediction or per image) into arrays, one for each column."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Column, Form
from evaluator.files import numbers
from evaluator.files.cells import shortened, shortened_id
from evaluator.files.given_names import GivenNames
from evaluator.files.masks import MASK, MaskReader, mask_defect
from evaluator.files.notices import notice_semicolons, notice_unknown_images
from evaluator.files.portions import Defect, Describe, InvalidValues, Portion, Row
from evaluator.files.rows import BLANKS, STRING_COLUMN, RowReader
from evaluator.files.source import Source
from evaluator.metrics.mapped_bytes import MappedBytes
from evaluator.problems import SHOWN_PER_CODE, Findings, Problem, Stop


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The known ids or labels of a ground truth, with integer codes. ``by_name`` maps lower-case display names to ids.

    If the vocabulary is ``closed``, unknown ids or labels are defects. Otherwise, they get the code -1.
    """

    index: Mapping[str, int]
    closed: bool
    by_name: Mapping[str, str] = field(default_factory=dict)


CODES = np.dtype(np.int32)
TYPES = {"number": np.dtype(np.float64), "mask": MASK}
Vocabularies = Mapping[str, Vocabulary]
Sizes = Mapping[str, NDArray[np.int64]]
"""``width`` and ``height`` of the images in the ground truth, shape (images,); 0 if unknown."""


@dataclass(slots=True)
class SubmissionTable:
    """The predictions in a submission in file order, with an array for each column.

    Attributes
    ----------
    columns : dict of name to array of shape (N,)
        int32 codes for images (``image``), labels and relations, -1 if unknown; float64 for numbers;
        :data:`evaluator.files.masks.MASK` for masks. Predictions for unknown images are omitted.
    named : set of int
        Codes of the images that have at least one row, with or without predictions.
    run_lengths : MappedBytes
        Compressed run lengths of the masks; empty if the track has no masks.
    """

    columns: dict[str, NDArray[Any]]
    named: set[int]
    run_lengths: MappedBytes

    def numbers(self, *names: str) -> NDArray[np.float64]:
        """Return the columns with the given names, which contain numbers, as one array of shape (N, len(names))."""
        return np.stack([self.columns[name] for name in names], axis=1).astype(np.float64, copy=False)

    def codes(self, name: str) -> NDArray[np.int64]:
        """Return a column of codes, shape (N,). A code is an integer that stands for an id or label, -1 if unknown."""
        return self.columns[name].astype(np.int64)


@dataclass(slots=True)
class Batch:
    """Converts a portion of a file (consecutive lines) to columns. Adds its defects to the findings in file order."""

    reader: RowReader
    vocabularies: Vocabularies
    sizes: Sizes
    masks: MaskReader
    portion: Portion
    names: GivenNames
    invalid: list[InvalidValues] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """The rows of valid lines in ``portion``, which is a part of the submission file."""
        return self.portion.rows

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of predictions in each row, shape (rows,)."""
        return np.array([len(row.texts) for row in self.rows], np.int64) // max(len(self.reader.layout), 1)

    def columns(self) -> tuple[NDArray[np.int32], dict[str, NDArray[Any]]]:
        """Return the integer code of each row's image, shape (rows,), and all prediction columns, each of shape (N,).

        Raises
        ------
        Stop
            If there are too many defects, or if the masks are too large.
        """
        layout = self.reader.layout
        images = self._codes([row.image for row in self.rows], self.reader.image_column, step=0)
        columns: dict[str, NDArray[Any]] = {"image": np.repeat(images, self.counts)}
        sizes = self._sizes(images) if len(self.reader.form.of_image) > 1 else {}
        texts = [text for row in self.rows for text in row.texts]
        for step, column in enumerate(layout, 1):
            part = texts[step - 1 :: len(layout)]
            if column.kind == "mask":
                masks, defects = self.masks.masks(part, sizes["height"], sizes["width"])
                self._add(list(defects), defects.__getitem__, column, step=step)
                columns[column.name] = masks
            elif column.kind != "unread":
                read = self._numbers if column.kind == "number" else self._codes
                columns[column.name] = read(part, column, step=step)
        self._report_defects()
        if self.masks.too_large:
            raise Stop("too_large")
        return images, columns

    def _sizes(self, images: NDArray[np.int32]) -> dict[str, NDArray[np.int64]]:
        """Return the image size of each prediction, shape (N,). Sizes that differ from the ground truth are defects."""
        sizes: dict[str, NDArray[np.int64]] = {}
        for position, column in enumerate(self.reader.form.of_image[1:]):
            texts = [row.image_cells[position].strip(BLANKS) for row in self.rows]
            defects = {index: defect for index, text in enumerate(texts) if (defect := numbers.size_defect(text))}
            self._add(list(defects), defects.__getitem__, column, step=0)
            read = np.array([1 if index in defects else int(text) for index, text in enumerate(texts)], np.int64)
            truth = np.zeros_like(read)
            if self.sizes:
                truth[images >= 0] = self.sizes[column.kind][images[images >= 0]]
            others = np.flatnonzero((truth > 0) & (truth != read)).tolist()
            self._add(others, _describe_other_size(truth, column.kind), column, step=0)
            sizes[column.kind] = np.repeat(read, self.counts)
        return sizes

    def _numbers(self, texts: list[str], column: Column, *, step: int) -> NDArray[np.float64]:
        limits = self.reader.limits
        values = numbers.parse(texts, limits)
        if values is not None:
            return values
        self._add(
            numbers.invalid_indices(texts, limits),
            lambda index: numbers.number_defect(texts[index], limits),
            column,
            step=step,
        )
        return np.zeros(len(texts))

    def _codes(self, texts: list[str], column: Column, *, step: int) -> NDArray[np.int32]:
        vocabulary = self.vocabularies.get("image" if column.kind == "file" else column.kind)
        known = vocabulary.index if vocabulary else {}
        codes = np.fromiter(map(known.get, texts, repeat(-1)), np.int32, len(texts))
        closed, max_length = vocabulary is not None and vocabulary.closed, self.reader.limits.text_characters
        invalid = np.flatnonzero(codes < 0).tolist()
        if not closed:
            invalid = [index for index in invalid if not 0 < len(texts[index]) <= max_length]
        ids = self.names.ids_of([texts[index] for index in invalid], vocabulary.by_name if vocabulary else {})
        self._add(invalid, lambda index: self._text_defect(texts[index], column, ids), column, step=step)
        return codes if vocabulary else np.zeros_like(codes)

    def _text_defect(self, text: str, column: Column, ids: Mapping[str, str]) -> tuple[str, str]:
        max_length = self.reader.limits.text_characters
        if not text:
            return "missing_value", f"{column.name} is empty"
        if len(text) > max_length:
            return "field_too_long", f"{shortened(text)} has {len(text)} characters; at most {max_length} are allowed"
        code = "unknown_image" if column.kind in ("image", "file") else "unknown_label"
        advice = f"; it is the name of {shortened(ids[text])}" if text in ids else ""
        return code, f"{shortened(text)} is not in this challenge's list of {column.kind}s{advice}"

    def _add(self, invalid: Sequence[int], describe: Describe, column: Column, *, step: int) -> None:
        """Store the invalid values of a column, to be reported later.

        ``step`` is the position of the column within a prediction, counting from 1. It is 0 for columns that describe
        the image.
        """
        values = np.array(invalid, np.int64)
        if step == 0:  # If a line is read in pieces, an invalid image id is reported only with the first piece.
            values = values[np.array([self.rows[row].tokens_before == 0 for row in invalid], bool)]
            self.invalid.append(InvalidValues(column, values, np.zeros_like(values), values, describe))
            return
        ends, width = np.cumsum(self.counts), len(self.reader.layout)
        rows, tokens = np.searchsorted(ends, values, side="right"), np.zeros_like(values)
        if self.reader.kaggle:
            before = np.array([row.tokens_before for row in self.rows], np.int64) - (ends - self.counts) * width
            tokens = before[rows] + values * width + step
        self.invalid.append(InvalidValues(column, rows, tokens, values, describe))

    def _report_defects(self) -> None:
        """Add all defects of the portion to the findings in file order, up to the maximum number of defects."""
        findings = self.reader.findings
        for _, code, problem in sorted([*self.portion.defects, *self._value_defects(findings)], key=itemgetter(0)):
            findings.count(code, problem)

    def _value_defects(self, findings: Findings) -> Iterator[Defect]:
        """Yield the defects of values in file order, up to the first that exceeds the maximum number of defects."""
        if not any(len(each.values) for each in self.invalid):
            return
        which = np.repeat(np.arange(len(self.invalid)), [len(each.values) for each in self.invalid])
        rows, tokens, values = (
            np.concatenate([getattr(each, name) for each in self.invalid]) for name in ("rows", "tokens", "values")
        )
        first = np.lexsort((tokens, rows))[: findings.room + 1]
        counts = Counter(findings.counts)
        for each, at, token, value in zip(
            *(part[first].tolist() for part in (which, rows, tokens, values)), strict=True
        ):
            code, message = self.invalid[each].describe(value)
            counts[code] += 1
            shown = counts[code] <= SHOWN_PER_CODE
            line, name = self.rows[at].line, self.invalid[each].column.name
            yield line, code, self._problem(code, message, at, token, name) if shown else None

    def _problem(self, code: str, message: str, at: int, token: int, column: str) -> Problem:
        row = self.rows[at]
        name, text = (STRING_COLUMN, f"{column}: {message}") if token else (column, message)
        return Problem(code, text, line=row.line, column=name, image=shortened_id(row.image), token=token or None)


def _describe_other_size(truth: NDArray[np.int64], side: str) -> Describe:
    return lambda row: mask_defect(f"masks of this image must have a {side} of {truth[row]} pixels")


def read_submission(
    source: Source, form: Form, vocabularies: Vocabularies, sizes: Sizes | None = None
) -> SubmissionTable:
    """Read a submission in CSV.

    Parameters
    ----------
    source : Source
        The file to read. Defects and notices are added to ``source.findings``.
    form : Form
        Declares the columns of the file.
    vocabularies : mapping of ``image``, ``label``, ``relation`` to Vocabulary
        Known ids and labels. If a key is missing, only the format of the corresponding columns is checked.
    sizes : Sizes, optional
        Sizes of the images in the ground truth. The size of a mask must be that of its image.

    Returns
    -------
    SubmissionTable; it must not be used if the findings contain a defect.
    """
    findings, names = source.findings, GivenNames()
    reader = RowReader(form, source.limits, findings)
    masks = MaskReader.of(source)
    parts: list[dict[str, NDArray[Any]]] = []
    named: set[int] = set()
    unknown_rows = 0
    try:
        for portion in reader.portions(source.path, source.progress):
            images, part = Batch(reader, vocabularies, sizes or {}, masks, portion, names).columns()
            named.update(images.tolist())
            unknown_rows += sum(not portion.rows[row].tokens_before for row in np.flatnonzero(images < 0).tolist())
            if findings.total:
                # A file with a defect is not scored, so the rows that have been read can be freed.
                parts.clear()
                masks.run_lengths.clear()
            elif portion.rows:
                kept = part["image"] >= 0
                parts.append(part if kept.all() else {name: values[kept] for name, values in part.items()})
    except Stop:
        pass  # Reading stopped at a defect in the file. The defect is already in the findings.
    findings.errors.sort(key=lambda problem: problem.line or 0)
    if "image" in vocabularies and not vocabularies["image"].closed:
        notice_unknown_images(findings, unknown_rows)
    notice_semicolons(findings, reader.semicolons)
    names.add_notice(findings)
    return SubmissionTable(_joined(parts, form), named - {-1}, masks.run_lengths.content())


def _joined(parts: list[dict[str, NDArray[Any]]], form: Form) -> dict[str, NDArray[Any]]:
    """Return the columns of a file, given those of its portions. To save memory, the columns are removed from them."""
    kinds = {"image": "image", **{column.name: column.kind for column in form.predicted if column.kind != "unread"}}
    return {
        name: np.concatenate([np.zeros(0, TYPES.get(kind, CODES)), *(part.pop(name) for part in parts)])
        for name, kind in kinds.items()
    }
