"""A rejected file's defects, grouped by code for the page, with what to do about each kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import pluralize

ADVICE = {
    "bad_byte": "Remove the NUL bytes. The file must be plain text.",
    "bad_gzip": "The gzip data ends early or is damaged. Compress the file again and submit it.",
    "bad_header": "The first line must name the columns of one of the two shapes on the data page.",
    "bad_json": "Write the file as the data page shows. The path says where it differs; indices start at 0.",
    "bad_mask": "Write masks as pycocotools encodes them, of the image's size, then zlib, then base64.",
    "bad_quote": "Close every quoted field on the line where it starts.",
    "bad_row": "Remove empty lines inside the file.",
    "bad_tokens": "Write all tokens of every prediction in the string, separated by spaces.",
    "bad_width": "Give each line as many cells as the header has.",
    "duplicate_image": "List each image once, with all its predictions.",
    "empty": "The file is empty. The data page shows what to submit.",
    "encoding": "Save the file as UTF-8.",
    "field_too_long": "Shorten the value; the limits are on the data page.",
    "line_too_long": "Start a new line for each image or prediction; the limits are on the data page.",
    "missing_image": "List every image, with empty predictions if there are none. The sample file lists all images.",
    "missing_value": "Write a number in every cell.",
    "not_a_number": "Write numbers in ASCII digits with a decimal point: 0.5, .5 or 5e-1.",
    "not_csv": "Submit the CSV file itself, or the CSV file compressed with gzip.",
    "not_finite": "Replace NaN and infinities by real numbers, or leave those predictions out.",
    "too_large": "The uncompressed file is too large. The limits are on the data page.",
    "too_many_rows": "Submit fewer predictions: keep those with the highest confidence in each image.",
    "unknown_image": "Use only the image ids of the test set; the sample file lists them.",
    "unknown_label": "Use only the labels of the class list, spelled exactly as there.",
}


@dataclass(frozen=True, slots=True)
class Defect:
    """One code with everything that was found of it, or the first of it."""

    code: str
    count: int
    advice: str
    errors: list[Mapping[str, Any]]
    places: tuple[str, ...]

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """The columns of its table: a title, and whether numbers are below it."""
        return [(place.capitalize(), place in NUMBERS) for place in self.places]

    @property
    def lines(self) -> list[tuple[list[tuple[str, bool, Any]], str]]:
        """The rows of its table: in each the cells as in `headings`, with their values, and the message."""
        return [
            ([(*heading, error.get(place)) for heading, place in zip(self.headings, self.places, strict=True)], message)
            for error in self.errors
            if (message := error["message"])
        ]

    @property
    def is_cut(self) -> bool:
        return len(self.errors) < self.count


PLACES = ("line", "column", "image", "token")
NUMBERS = ("line", "token")


def count_in_words(problems: Mapping[str, Any]) -> str:
    """Return how many defects were found, as a heading.

    >>> count_in_words({"total": 1000, "more": True})
    'More than 1,000 defects'
    """
    total = problems.get("total", 0)
    more = "More than " if problems.get("more") else ""
    return f"{more}{intcomma(total)} defect{pluralize(total)}"


def grouped(problems: Mapping[str, Any]) -> list[Defect]:
    """Group the errors of a submission's `problems` by code, in the file's order; only places that occur get a column.

    >>> found = grouped({"errors": [{"code": "empty", "message": "the file is empty", "line": 1}], "total": 1})
    >>> found[0].code, found[0].count, found[0].places
    ('empty', 1, ('line',))
    """
    by_code: dict[str, list[Mapping[str, Any]]] = {}
    for error in problems.get("errors", ()):
        by_code.setdefault(error["code"], []).append(error)
    counts = problems.get("counts", {})
    return [
        Defect(
            code=code,
            count=counts.get(code, len(errors)),
            advice=ADVICE.get(code, ""),
            errors=errors,
            places=tuple(place for place in PLACES if any(error.get(place) is not None for error in errors)),
        )
        for code, errors in by_code.items()
    ]
