"""A submission's rows as typed columns, whichever of the two shapes it has; every defect with its place."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Column, Form
from evaluator.files import numbers
from evaluator.files.cells import shortened, shortened_id
from evaluator.files.masks import MASK, MaskReader, mask_fault
from evaluator.files.notices import notice_unknown_images
from evaluator.files.portions import Defect, Portion, Row
from evaluator.files.rows import BLANKS, STRING_COLUMN, RowReader
from evaluator.files.source import Source
from evaluator.problems import SHOWN_PER_CODE, Findings, Problem, Stop


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The ids or labels a truth knows.

    ``closed``: anything else is a defect. Otherwise it gets the code -1.
    """

    index: Mapping[str, int]
    closed: bool


CODES = np.dtype(np.int32)
TYPES = {"number": np.dtype(np.float64), "mask": MASK}
Vocabularies = Mapping[str, Vocabulary]
Sizes = Mapping[str, NDArray[np.int64]]
"""``width`` and ``height`` of the truth's images, shape (images,), 0 where nothing is known of it."""


@dataclass(slots=True)
class Table:
    """The predictions of a file, one array a column, in file order.

    Attributes
    ----------
    columns : dict of name to array of shape (N,)
        int32 codes for images (``image``), labels and relations, -1 where the truth does not know them; float64 for
        numbers; :data:`evaluator.files.masks.MASK` for masks. Predictions of images that the truth does not know are
        left out.
    named : set of int
        Codes of the images that the file names, with predictions or without.
    """

    columns: dict[str, NDArray[Any]]
    named: set[int]

    def numbers(self, *names: str) -> NDArray[np.float64]:
        """Return number columns side by side, shape (N, len(names))."""
        return np.stack([self.columns[name] for name in names], axis=1).astype(np.float64, copy=False)

    def codes(self, name: str) -> NDArray[np.int64]:
        """Return a column of codes, shape (N,), -1 for unknown."""
        return self.columns[name].astype(np.int64)


Explain = Callable[[int], tuple[str, str]]
"""Takes the index of a value that is wrong; returns code and message."""


@dataclass(frozen=True, slots=True)
class Faults:
    """The wrong values of one column of a batch.

    Attributes
    ----------
    column : Column
    rows : int64 array of shape (N,)
        Of the batch.
    tokens : int64 array of shape (N,)
        Places in their prediction strings, from 1; 0 where there is none.
    values : int64 array of shape (N,)
        What ``explain`` takes.
    explain : callable
    """

    column: Column
    rows: NDArray[np.int64]
    tokens: NDArray[np.int64]
    values: NDArray[np.int64]
    explain: Explain


@dataclass(slots=True)
class Batch:
    """Some rows on their way to columns; collects their defects and hands them on in file order."""

    reader: RowReader
    vocabularies: Vocabularies
    sizes: Sizes
    masks: MaskReader
    portion: Portion
    faults: list[Faults] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        """The sound rows."""
        return self.portion.rows

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of predictions of each row, shape (rows,)."""
        return np.array([len(row.texts) for row in self.rows], np.int64) // max(len(self.reader.layout), 1)

    def columns(self) -> tuple[NDArray[np.int32], dict[str, NDArray[Any]]]:
        """Return the rows' image codes, shape (rows,), and the predictions' columns, each of shape (N,).

        Raises
        ------
        Stop
            Where the findings hold as many defects as are counted.
        """
        layout = self.reader.layout
        images = self._codes([row.image for row in self.rows], self.reader.image_column, step=0)
        columns: dict[str, NDArray[Any]] = {"image": np.repeat(images, self.counts)}
        if len(self.reader.form.of_image) > 1:
            columns |= self._sizes(images)
        texts = [text for row in self.rows for text in row.texts]
        for step, column in enumerate(layout, 1):
            part = texts[step - 1 :: len(layout)]
            if column.kind == "mask":
                masks, faults = self.masks.masks(part, columns["height"], columns["width"])
                self._add(list(faults), faults.__getitem__, column, step=step)
                columns[column.name] = masks
            elif column.kind != "unread":
                read = self._numbers if column.kind == "number" else self._codes
                columns[column.name] = read(part, column, step=step)
        self._tell()
        if self.masks.too_large:
            raise Stop("too_large")
        return images, columns

    def _sizes(self, images: NDArray[np.int32]) -> dict[str, NDArray[np.int64]]:
        """Return the width and height of each prediction's image, shape (N,); note sizes that are not the truth's."""
        sizes: dict[str, NDArray[np.int64]] = {}
        for place, column in enumerate(self.reader.form.of_image[1:]):
            texts = [row.beside[place].strip(BLANKS) for row in self.rows]
            faults = {index: fault for index, text in enumerate(texts) if (fault := numbers.size_fault(text))}
            self._add(list(faults), faults.__getitem__, column, step=0)
            read = np.array([1 if index in faults else int(text) for index, text in enumerate(texts)], np.int64)
            truth = np.zeros_like(read)
            if self.sizes:
                truth[images >= 0] = self.sizes[column.kind][images[images >= 0]]
            others = np.flatnonzero((truth > 0) & (truth != read)).tolist()
            self._add(others, _of_another_size(truth, column.kind), column, step=0)
            sizes[column.kind] = np.repeat(read, self.counts)
        return sizes

    def _numbers(self, texts: list[str], column: Column, *, step: int) -> NDArray[np.float64]:
        limits = self.reader.limits
        values = numbers.parse(texts, limits)
        if values is not None:
            return values
        self._add(numbers.faulty(texts, limits), lambda index: numbers.fault(texts[index], limits), column, step=step)
        return np.zeros(len(texts))

    def _codes(self, texts: list[str], column: Column, *, step: int) -> NDArray[np.int32]:
        vocabulary = self.vocabularies.get("image" if column.kind == "file" else column.kind)
        known = vocabulary.index if vocabulary else {}
        codes = np.fromiter(map(known.get, texts, repeat(-1)), np.int32, len(texts))
        closed, most = vocabulary is not None and vocabulary.closed, self.reader.limits.text_characters
        wrong = np.flatnonzero(codes < 0).tolist()
        if not closed:
            wrong = [index for index in wrong if not 0 < len(texts[index]) <= most]
        self._add(wrong, lambda index: self._text_fault(texts[index], column), column, step=step)
        return codes

    def _text_fault(self, text: str, column: Column) -> tuple[str, str]:
        most = self.reader.limits.text_characters
        if not text:
            return "missing_value", f"{column.name} is empty"
        if len(text) > most:
            return "field_too_long", f"{shortened(text)} has {len(text)} characters; at most {most} are allowed"
        code = "unknown_image" if column.kind in ("image", "file") else "unknown_label"
        return code, f"{shortened(text)} is not in this challenge's list of {column.kind}s"

    def _add(self, wrong: Sequence[int], explain: Explain, column: Column, *, step: int) -> None:
        """Add the defects of a column, by the index of the value; ``step`` is its place in a prediction, 0: image."""
        values = np.array(wrong, np.int64)
        if step == 0:  # a later piece of a line says nothing new of its image
            values = values[np.array([self.rows[row].before == 0 for row in wrong], bool)]
            self.faults.append(Faults(column, values, np.zeros_like(values), values, explain))
            return
        ends, width = np.cumsum(self.counts), len(self.reader.layout)
        rows, tokens = np.searchsorted(ends, values, side="right"), np.zeros_like(values)
        if self.reader.kaggle:
            before = np.array([row.before for row in self.rows], np.int64) - (ends - self.counts) * width
            tokens = before[rows] + values * width + step
        self.faults.append(Faults(column, rows, tokens, values, explain))

    def _tell(self) -> None:
        """Hand the defects of lines and of values to the findings, as far as they are counted."""
        findings = self.reader.findings
        for _, code, problem in sorted([*self.portion.defects, *self._of_values(findings)], key=itemgetter(0)):
            findings.count(code, problem)

    def _of_values(self, findings: Findings) -> Iterator[Defect]:
        """Yield the defects of values in file order, one more than are counted at most."""
        if not any(len(each.values) for each in self.faults):
            return
        which = np.repeat(np.arange(len(self.faults)), [len(each.values) for each in self.faults])
        rows, tokens, values = (
            np.concatenate([getattr(each, name) for each in self.faults]) for name in ("rows", "tokens", "values")
        )
        first = np.lexsort((tokens, rows))[: findings.room + 1]
        told = Counter(findings.counts)
        for each, at, token, value in zip(
            *(part[first].tolist() for part in (which, rows, tokens, values)), strict=True
        ):
            code, message = self.faults[each].explain(value)
            told[code] += 1
            shown = told[code] <= SHOWN_PER_CODE
            line, name = self.rows[at].line, self.faults[each].column.name
            yield line, code, self._problem(code, message, at, token, name) if shown else None

    def _problem(self, code: str, message: str, at: int, token: int, column: str) -> Problem:
        row = self.rows[at]
        name, text = (STRING_COLUMN, f"{column}: {message}") if token else (column, message)
        return Problem(code, text, line=row.line, column=name, image=shortened_id(row.image), token=token or None)


def _of_another_size(truth: NDArray[np.int64], side: str) -> Explain:
    return lambda row: mask_fault(f"masks of this image must have a {side} of {truth[row]} pixels")


def read_table(source: Source, form: Form, vocabularies: Vocabularies, sizes: Sizes | None = None) -> Table:
    """Read a CSV submission of any shape of its form.

    Parameters
    ----------
    source : Source
        Its findings receive every defect, and the notice ``unknown_image``.
    form : Form
        What its columns are called.
    vocabularies : mapping of ``image``, ``label``, ``relation`` to Vocabulary
        What is known; of the others only the form is checked.
    sizes : Sizes, optional
        What masks must fit to.

    Returns
    -------
    Table; of use only where the findings hold no defect.
    """
    findings = source.findings
    reader = RowReader(form, source.limits, findings)
    masks = MaskReader.within(source.limits, source.path.stat().st_size)
    parts: list[dict[str, NDArray[Any]]] = []
    named: set[int] = set()
    unknown_rows = 0
    try:
        for portion in reader.portions(source.path, source.progress):
            images, part = Batch(reader, vocabularies, sizes or {}, masks, portion).columns()
            named.update(images.tolist())
            unknown_rows += sum(not portion.rows[row].before for row in np.flatnonzero(images < 0).tolist())
            if findings.total:
                parts.clear()  # it will not be scored; only its defects are wanted
            elif portion.rows:
                kept = part["image"] >= 0
                parts.append(part if kept.all() else {name: values[kept] for name, values in part.items()})
    except Stop:
        pass  # why is in the findings
    findings.errors.sort(key=lambda problem: problem.line or 0)
    if "image" in vocabularies and not vocabularies["image"].closed:
        notice_unknown_images(findings, unknown_rows)
    return Table(_joined(parts, form), named - {-1})


def _joined(parts: list[dict[str, NDArray[Any]]], form: Form) -> dict[str, NDArray[Any]]:
    kinds = {"image": "image", **{column.name: column.kind for column in form.predicted if column.kind != "unread"}}
    return {
        name: np.concatenate([np.zeros(0, TYPES.get(kind, CODES)), *(part[name] for part in parts)])
        for name, kind in kinds.items()
    }
