"""The defects in a rejected file, grouped by the code that identifies the kind of defect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.template.defaultfilters import pluralize

from server.submissions.defect_advice import ADVICE

LOCATION_FIELDS = ("line", "column", "image", "token")
NUMBER_FIELDS = ("line", "token")


@dataclass(frozen=True, slots=True)
class LocationCell:
    """A table cell with one part of a defect's location in the file, such as the line."""

    title: str
    is_number: bool
    value: Any


@dataclass(frozen=True, slots=True)
class DefectGroup:
    """The defects of a rejected file that have the same code.

    `errors` contains the first few defects, and `count` is their total number. `fields` names the parts of a defect's
    location that are set, such as line and column.
    """

    code: str
    count: int
    advice: str
    errors: list[Mapping[str, Any]]
    fields: tuple[str, ...]

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """The title of each column with a part of the location, and whether the column contains numbers."""
        return [(field.capitalize(), field in NUMBER_FIELDS) for field in self.fields]

    @property
    def rows(self) -> list[tuple[list[LocationCell], str]]:
        """The rows of the table of defects: the cells with the location, and the message."""
        return [
            (
                [LocationCell(field.capitalize(), field in NUMBER_FIELDS, error.get(field)) for field in self.fields],
                error["message"],
            )
            for error in self.errors
        ]

    @property
    def is_truncated(self) -> bool:
        return len(self.errors) < self.count


def defect_count(problems: Mapping[str, Any]) -> str:
    """Return a phrase with the number of defects in a rejected file.

    >>> defect_count({"total": 1000, "more": True})
    'At least 1,000 defects'
    """
    total = problems.get("total", 0)
    more = "At least " if problems.get("more") else ""
    return f"{more}{intcomma(total)} defect{pluralize(total)}"


def defect_groups(problems: Mapping[str, Any]) -> list[DefectGroup]:
    """Return the defects stored in a submission's `problems`, grouped by code.

    >>> found = defect_groups({"errors": [{"code": "empty", "message": "the file is empty", "line": 1}], "total": 1})
    >>> found[0].code, found[0].count, found[0].fields
    ('empty', 1, ('line',))
    """
    by_code: dict[str, list[Mapping[str, Any]]] = {}
    for error in problems.get("errors", ()):
        by_code.setdefault(error["code"], []).append(error)
    counts = problems.get("counts", {})
    return [
        DefectGroup(
            code=code,
            count=counts.get(code, len(errors)),
            advice=ADVICE.get(code, ""),
            errors=errors,
            fields=tuple(field for field in LOCATION_FIELDS if any(error.get(field) is not None for error in errors)),
        )
        for code, errors in by_code.items()
    ]
