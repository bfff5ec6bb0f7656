"""A submission's rows as typed columns, whichever of the two shapes it has; every defect with its place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Column, Form
from evaluator.files import numbers
from evaluator.files.cells import shortened
from evaluator.files.lines import Stop
from evaluator.files.masks import MASK, mask_fault, read_masks
from evaluator.files.notices import notice_unknown_images
from evaluator.files.rows import BLANKS, STRING_COLUMN, Row, RowReader, shortened_id
from evaluator.files.source import Source
from evaluator.problems import Problem


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


@dataclass(slots=True)
class Batch:
    """Some rows on their way to columns; collects their defects and hands them on in file order."""

    reader: RowReader
    vocabularies: Vocabularies
    sizes: Sizes
    rows: list[Row]
    defects: list[Problem] = field(default_factory=list)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of predictions of each row, shape (rows,)."""
        return np.array([len(row.texts) for row in self.rows], np.int64) // len(self.reader.layout)

    def columns(self) -> tuple[NDArray[np.int32], dict[str, NDArray[Any]]]:
        """Return the rows' image codes, shape (rows,), and the predictions' columns, each of shape (N,)."""
        layout = self.reader.layout
        images = self._codes([row.image for row in self.rows], self.reader.image_column, step=0)
        columns: dict[str, NDArray[Any]] = {"image": np.repeat(images, self.counts)}
        if len(self.reader.form.of_image) > 1:
            columns |= self._sizes(images)
        texts = [text for row in self.rows for text in row.texts]
        for step, column in enumerate(layout, 1):
            part = texts[step - 1 :: len(layout)]
            if column.kind == "mask":
                masks, faults = read_masks(part, columns["height"], columns["width"])
                self._add({index: mask_fault(fault) for index, fault in faults.items()}, column, step=step)
                columns[column.name] = masks
            elif column.kind != "unread":
                read = self._numbers if column.kind == "number" else self._codes
                columns[column.name] = read(part, column, step=step)
        self.defects.sort(key=lambda problem: (problem.line or 0, problem.token or 0))
        for problem in self.defects:
            self.reader.findings.add(problem)
        return images, columns

    def _sizes(self, images: NDArray[np.int32]) -> dict[str, NDArray[np.int64]]:
        """Return the width and height of each prediction's image, shape (N,); note sizes that are not the truth's."""
        sizes: dict[str, NDArray[np.int64]] = {}
        for place, column in enumerate(self.reader.form.of_image[1:]):
            texts = [row.beside[place].strip(BLANKS) for row in self.rows]
            faults = {index: fault for index, text in enumerate(texts) if (fault := numbers.size_fault(text))}
            self._add(faults, column, step=0)
            read = np.array([1 if index in faults else int(text) for index, text in enumerate(texts)], np.int64)
            truth = np.zeros_like(read)
            if self.sizes:
                truth[images >= 0] = self.sizes[column.kind][images[images >= 0]]
            wrong = (truth > 0) & (truth != read)
            message = "masks of this image must have a {} of {} pixels"
            others = np.flatnonzero(wrong).tolist()
            self._add({each: mask_fault(message.format(column.kind, truth[each])) for each in others}, column, step=0)
            sizes[column.kind] = np.repeat(read, self.counts)
        return sizes

    def _numbers(self, texts: list[str], column: Column, *, step: int) -> NDArray[np.float64]:
        values = numbers.parse(texts, self.reader.limits)
        if values is not None:
            return values
        faults = [(index, numbers.fault(text, self.reader.limits)) for index, text in enumerate(texts)]
        self._add({index: wrong for index, wrong in faults if wrong is not None}, column, step=step)
        return np.zeros(len(texts))

    def _codes(self, texts: list[str], column: Column, *, step: int) -> NDArray[np.int32]:
        vocabulary = self.vocabularies.get("image" if column.kind == "file" else column.kind)
        known = vocabulary.index if vocabulary else {}
        codes = np.fromiter(map(known.get, texts, repeat(-1)), np.int32, len(texts))
        closed = vocabulary is not None and vocabulary.closed
        unknown = np.flatnonzero(codes < 0).tolist()
        wrong = {text: self._text_fault(text, column, closed=closed) for text in {texts[index] for index in unknown}}
        faults = {index: fault for index in unknown if (fault := wrong[texts[index]]) is not None}
        self._add(faults, column, step=step)
        return codes

    def _text_fault(self, text: str, column: Column, *, closed: bool) -> tuple[str, str] | None:
        most = self.reader.limits.text_characters
        if not text:
            return "missing_value", f"{column.name} is empty"
        if len(text) > most:
            return "field_too_long", f"{shortened(text)} has {len(text)} characters; at most {most} are allowed"
        if closed:
            code = "unknown_image" if column.kind in ("image", "file") else "unknown_label"
            return code, f"{shortened(text)} is not in this challenge's list of {column.kind}s"
        return None

    def _add(self, faults: Mapping[int, tuple[str, str]], column: Column, *, step: int) -> None:
        """Add the defects of a column, by the index of the value; ``step`` is its place in a prediction, 0: image."""
        ends, width = np.cumsum(self.counts), len(self.reader.layout)
        for index, (code, message) in faults.items():
            place = index if step == 0 else int(np.searchsorted(ends, index, side="right"))
            row, token = self.rows[place], None
            if step and self.reader.kaggle:
                first = int(ends[place]) - len(row.texts) // width
                token = (index - first) * width + step
            name, text = (STRING_COLUMN, f"{column.name}: {message}") if token else (column.name, message)
            image = shortened_id(row.image)
            self.defects.append(Problem(code, text, line=row.line, column=name, image=image, token=token))


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
    parts: list[dict[str, NDArray[Any]]] = []
    named: set[int] = set()
    unknown_rows = 0
    try:
        for rows in filter(None, reader.rows(source.path, source.progress)):
            images, part = Batch(reader, vocabularies, sizes or {}, rows).columns()
            if findings.total:
                parts.clear()  # it will not be scored; only its defects are wanted
            named.update(images.tolist())
            unknown_rows += int(np.count_nonzero(images < 0))
            kept = np.repeat(images, [len(row.texts) // len(reader.layout) for row in rows]) >= 0
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
