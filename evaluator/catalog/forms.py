"""How a submission is written: its form, and the shapes of it that pages show."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "image", "file", "label", "relation", "number", "width", "height", "mask", "unread", "text", "integer", "list"
]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a row, one token of a prediction string, or one key of a JSON object.

    A ``file`` is an image named with or without its folder; what is ``unread`` may hold anything.
    """

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to write a submission: a worked example, and what its columns, tokens or keys are."""

    name: str
    sentence: str
    header: str
    example: str
    columns: tuple[Column, ...]
    column_word: str


@dataclass(frozen=True, slots=True)
class Form:
    """What a track's submissions look like.

    Attributes
    ----------
    kind : str
        ``table``: CSV with a header; ``rows``: CSV without one; ``json``.
    columns : tuple of Column
        Those of a row; of JSON, the keys.
    example : str
        A row below the header; of JSON, a whole file.
    tokens : tuple of Column
        Where a table may also be written with one row an image and a string of predictions: what stands in it.
    string_example : str
        The string of that shape.
    of_image : tuple of Column
        What stands beside that string. The row of a prediction begins with the same columns.
    one_each : bool
        Whether an image has one row at most.
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
        """Return how a file's name ends."""
        return "json" if self.kind == "json" else "csv"

    @property
    def sentence(self) -> str:
        """Say in a sentence or two what to send."""
        if self.kind == "json":
            return "One JSON file in UTF-8, plain or compressed with gzip."
        if self.kind == "rows":
            return "One CSV file in UTF-8 without a header, plain or compressed with gzip."
        shapes = ", in either of two shapes; its header says which" if self.tokens else ""
        return (
            f"One CSV file in UTF-8, plain or compressed with gzip{shapes}. "
            "Letter case in the header and the order of rows do not matter."
        )

    @property
    def predicted(self) -> tuple[Column, ...]:
        """Return the columns of a row that are a prediction's own."""
        return self.columns[len(self.of_image) :]

    @property
    def long_header(self) -> tuple[str, ...]:
        """Return the column names of the one-row-per-prediction shape."""
        return tuple(column.name for column in self.columns)

    @property
    def kaggle_header(self) -> tuple[str, ...]:
        """Return the column names of the prediction-string shape."""
        return (*(column.name for column in self.of_image), "PredictionString")

    @property
    def nothing(self) -> str:
        """Return the smallest file of this form: a header, no rows, or an empty list or object.

        >>> Form("json", (), '[{"a": 1}]').nothing
        '[]'
        """
        if self.kind == "table":
            return ",".join(self.long_header) + "\n"
        return {"[": "[]", "{": "{}"}[self.example[0]] if self.kind == "json" else ""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Return every way to write it, the shortest first."""
        if self.kind == "json":
            return (
                Shape("One JSON file", "The order of keys does not matter.", "", self.example, self.columns, "Key"),
            )
        if self.kind == "rows":
            sentence = "No header; columns stand in this order, rows in any."
            return (Shape("One row per image", sentence, "", self.example, self.columns, "Column"),)
        name = "One row per image" if self.one_each else "One row per prediction"
        sentence = "Columns in any order."
        if not self.one_each:
            sentence = "Columns in any order; an image without predictions has no row."
        header = ",".join(self.long_header)
        long = Shape(name, sentence, header, f"{header}\n{self.example}", self.columns, "Column")
        return (self._strings, long) if self.tokens else (long,)

    @property
    def _strings(self) -> Shape:
        header = ",".join(self.kaggle_header)
        cells = [*self.example.split(",")[: len(self.of_image)], self.string_example]
        return Shape(
            "One row per image",
            "All predictions of an image stand in one string, separated by spaces. "
            "An image without predictions has an empty string.",
            header,
            f"{header}\n{','.join(cells)}",
            (*self.of_image, *self.tokens),
            "Column or token",
        )
