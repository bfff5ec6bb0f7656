"""Defines types for the format of submissions to a track, and for the file layouts that this format allows."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "image", "file", "label", "relation", "number", "width", "height", "mask", "unread", "text", "integer", "list"
]


@dataclass(frozen=True, slots=True)
class Column:
    """A value in a submission: a column of a row, a token of a prediction string, or a key of a JSON object.

    A column of kind ``file`` contains the file name of an image, with or without folders. A column of kind ``unread``
    is ignored and may contain anything.
    """

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A file layout that submissions can have, with an example and its columns, tokens or keys."""

    name: str
    sentence: str
    header: str
    example: str
    columns: tuple[Column, ...]
    column_word: str


@dataclass(frozen=True, slots=True)
class Form:
    """The format of the submissions to a track.

    Attributes
    ----------
    kind : str
        ``table`` for CSV with a header, ``rows`` for CSV without a header, or ``json``.
    columns : tuple of Column
        The columns of a row, or the keys of JSON objects.
    example : str
        A row of a CSV file, or a whole JSON file.
    tokens : tuple of Column
        The tokens of one prediction in a prediction string. If there are any, tables may also have one row per image.
    string_example : str
        An example of a prediction string.
    of_image : tuple of Column
        The columns that describe the image; every row begins with them.
    one_each : bool
        Whether each image may have only one row.
    """

    kind: Literal["table", "rows", "json"]
    columns: tuple[Column, ...]
    example: str
    tokens: tuple[Column, ...] = ()
    string_example: str = ""
    of_image: tuple[Column, ...] = (Column("ImageId", "image", "the image's id, text"),)
    one_each: bool = False

    @property
    def suffix(self) -> str:
        """The file name extension of submissions, without the dot."""
        return "json" if self.kind == "json" else "csv"

    @property
    def sentence(self) -> str:
        """One or two sentences that describe the file format to participants."""
        if self.kind == "json":
            return "One JSON file in UTF-8, plain or compressed with gzip."
        if self.kind == "rows":
            return "One CSV file in UTF-8 without a header, plain or compressed with gzip."
        shapes = ", in either of two layouts; its header determines which" if self.tokens else ""
        return (
            f"One CSV file in UTF-8, plain or compressed with gzip{shapes}. "
            "Letter case in the header and the order of rows do not matter."
        )

    @property
    def predicted(self) -> tuple[Column, ...]:
        """The columns that describe a prediction, excluding those that describe the image."""
        return self.columns[len(self.of_image) :]

    @property
    def long_header(self) -> tuple[str, ...]:
        """The column names of the CSV layout with one row per prediction."""
        return tuple(column.name for column in self.columns)

    @property
    def kaggle_header(self) -> tuple[str, ...]:
        """The column names of the Kaggle layout, which has all predictions for an image in one string."""
        return (*(column.name for column in self.of_image), "PredictionString")

    @property
    def empty_file(self) -> str:
        """The content of the smallest file in this format: a CSV header, an empty string, or an empty JSON value.

        >>> Form("json", (), '[{"a": 1}]').empty_file
        '[]'
        """
        if self.kind == "table":
            return ",".join(self.long_header) + "\n"
        return {"[": "[]", "{": "{}"}[self.example[0]] if self.kind == "json" else ""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The file layouts that this format allows, most compact first."""
        if self.kind == "json":
            return (
                Shape("One JSON file", "The order of keys does not matter.", "", self.example, self.columns, "Key"),
            )
        if self.kind == "rows":
            sentence = "There is no header. The columns must be in this order; the rows can be in any order."
            return (Shape("One row per image", sentence, "", self.example, self.columns, "Column"),)
        name = "One row per image" if self.one_each else "One row per prediction"
        sentence = "The columns can be in any order."
        if not self.one_each:
            sentence = "The columns can be in any order. An image without predictions has no row."
        header = ",".join(self.long_header)
        long = Shape(name, sentence, header, f"{header}\n{self.example}", self.columns, "Column")
        return (self._strings, long) if self.tokens else (long,)

    @property
    def _strings(self) -> Shape:
        header = ",".join(self.kaggle_header)
        cells = [*self.example.split(",")[: len(self.of_image)], self.string_example]
        return Shape(
            "One row per image",
            "All predictions of an image are in one string, separated by spaces. "
            "An image without predictions has an empty string.",
            header,
            f"{header}\n{','.join(cells)}",
            (*self.of_image, *self.tokens),
            "Column or token",
        )
