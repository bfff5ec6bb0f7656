"""The table of classes: searched, sorted and cut by the address alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.http import urlencode

from evaluator.catalog import Heading, Track
from server.pages.choices import Choice
from server.pages.results import SPLITS

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the address asks for."""

    search: str
    sort: str
    descending: bool
    split: str
    chosen: str = ""  # the class whose curve is drawn

    @property
    def order(self) -> str:
        """The sorting as the address writes it: descending with a minus."""
        return f"-{self.sort}" if self.descending else self.sort

    def query(self, **changes: str) -> str:
        """The address of the same table with something changed; always from its first rows."""
        given = {"q": self.search, "sort": self.order, "split": self.split, "chosen": self.chosen}
        return "?" + urlencode({name: value for name, value in (given | changes).items() if value})


@dataclass(frozen=True, slots=True)
class Column:
    """One column: how it is called, what kind of thing stands in it, and what sorts the table by it."""

    name: str
    title: str
    kind: str
    sorted: str
    query: str

    @property
    def arrow(self) -> str:
        return {"descending": "↓", "ascending": "↑"}.get(self.sorted, "")


def columns_of(track: Track, wish: Wish) -> list[Column]:
    names = Heading("name", track.class_word.capitalize(), "text")
    return [column(heading, wish) for heading in (names, *track.class_columns, *track.explained_columns)]


def column(heading: Heading, wish: Wish) -> Column:
    """Numbers are sorted the largest first, names from A, and the other way on the second click."""
    name = heading.name
    current = wish.sort == name
    turned = name if current == wish.descending else f"-{name}"
    first = name if name == "name" else f"-{name}"
    way = ("descending" if wish.descending else "ascending") if current else ""
    return Column(name, heading.title, heading.kind, way, wish.query(sort=turned if current else first))


def choices_of(splits: Sequence[str], wish: Wish, current: str) -> list[Choice]:
    return [Choice(SPLITS[split], wish.query(split=split), split == current) for split in splits]


def wish_of(parameters: Mapping[str, str], *, columns: Sequence[str]) -> Wish:
    """Read the address; what makes no sense becomes the default: the track's first number, the largest first."""
    sort = parameters.get("sort", "")
    name = sort.removeprefix("-")
    if name not in (*columns, "name"):
        sort, name = f"-{columns[0]}", columns[0]
    search, chosen = (parameters.get(field, "")[:256].strip() for field in ("q", "chosen"))
    return Wish(search, name, sort.startswith("-"), parameters.get("split", ""), chosen)


def select(rows: Sequence[Row], wish: Wish) -> list[Row]:
    """Search and sort; undefined values stand last, whichever way it is sorted.

    >>> rows = [{"label": "/m/1", "name": "Cat", "ap": 0.5}, {"label": "/m/2", "name": "Dog", "ap": None}]
    >>> [row["name"] for row in select(rows, Wish("", "ap", False, ""))]
    ['Cat', 'Dog']
    """
    needle = wish.search.casefold()
    found = [row for row in rows if needle in f"{row['label']} {row['name']}".casefold()]
    known = [row for row in found if row.get(wish.sort) is not None]
    unknown = [row for row in found if row.get(wish.sort) is None]

    def sort_key(row: Row) -> Any:
        value = row[wish.sort]
        return value.casefold() if isinstance(value, str) else value

    return sorted(known, key=sort_key, reverse=wish.descending) + unknown
