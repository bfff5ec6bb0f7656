"""Defines the kinds of values in challenge.yaml, such as integers and dates.

A class for each kind converts YAML nodes to Python values, and provides a JSON Schema.

Each kind parses the text of a value itself. Therefore, YAML tags never create objects, and `title: 2019` is a string.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from math import isfinite
from typing import Any, Protocol

import yaml

from evaluator.bundle.rules import DOMAIN, NAME_CHARACTERS, allowed_people, mail_domains
from evaluator.dates import FIRST_YEAR, LAST, iso_utc, stored
from evaluator.texts import BadName, clean_name, one_line

NULL = "tag:yaml.org,2002:null"
BOOLEAN = "tag:yaml.org,2002:bool"
PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "timestamp", "merge", "value")}
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
Schema = dict[str, Any]


class InvalidValue(ValueError):
    """Raised if a value in challenge.yaml is not allowed. The message describes what is expected."""


class Kind(Protocol):
    """The interface of a kind of value in challenge.yaml, such as an integer or a date."""

    @property
    def text(self) -> str:
        """Return a description of the allowed values, such as "a number from 0 to 1"."""

    def read(self, node: yaml.Node) -> Any:
        """Return the Python value of a YAML node. Raises InvalidValue if the value is not allowed."""

    def schema(self) -> Schema:
        """Return the JSON Schema for values of this kind."""


def written(node: yaml.Node) -> str:
    """Return the text of a YAML scalar, without surrounding white space. Raises InvalidValue for other nodes."""
    if not isinstance(node, yaml.ScalarNode) or node.tag not in PLAIN:
        raise InvalidValue("expected a single value, not a list or nested keys")
    return str(node.value).strip()


def written_text(node: yaml.Node) -> str:
    """Return the text of a YAML scalar. Raises InvalidValue for Booleans such as ``yes`` without quotes."""
    value = written(node)
    if node.tag == BOOLEAN:
        raise InvalidValue(f"{value!r} is a Boolean in YAML; put it in quotes to make it a string")
    return value


def nearest(word: str, known: Collection[str]) -> str:
    """Return a sentence that suggests the most similar known word, or an empty string if no known word is similar."""
    near = get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]}?" if near else ""


@dataclass(frozen=True, slots=True)
class Text:
    """Reads one line of text with at most ``most`` characters."""

    most: int

    @property
    def text(self) -> str:
        """Return a description of the allowed values, such as "one line of at most 80 characters"."""
        return f"one line of at most {self.most} characters"

    def read(self, node: yaml.Node) -> str:
        """Return the text of a YAML node on one line. Every run of white space is replaced by one space."""
        try:
            return one_line(written_text(node), self.most)
        except ValueError as error:
            raise InvalidValue(str(error)) from None

    def schema(self) -> Schema:
        """Return the JSON Schema. Numbers are allowed too, because ``title: 2019`` is read as a string."""
        return {"type": ["string", "number"], "minLength": 1, "maxLength": self.most}


@dataclass(frozen=True, slots=True)
class Slug:
    """Reads a slug: a short name that is part of URLs."""

    text: str = "lower-case letters, digits and single hyphens, at most 80 characters"

    def read(self, node: yaml.Node) -> str:
        """Return the short name in a YAML node."""
        value = written_text(node)
        if not SLUG.fullmatch(value) or len(value) > 80:
            raise InvalidValue(f"{value!r} is not a short name; expected {self.text}")
        return value

    def schema(self) -> Schema:
        """Return the JSON Schema for short names."""
        return {"type": ["string", "integer"], "pattern": f"^{SLUG.pattern}$", "maxLength": 80}


@dataclass(frozen=True, slots=True)
class Name:
    """Reads the name of a baseline (a submission from the organizers).

    The rules are the same as for team names.
    """

    text: str = f"a name of at most {NAME_CHARACTERS} characters, with at least one letter or digit"

    def read(self, node: yaml.Node) -> str:
        """Return the name in a YAML node, normalized like the names on leaderboards."""
        try:
            return clean_name(written_text(node), NAME_CHARACTERS)
        except BadName as error:
            raise InvalidValue(str(error)) from None

    def schema(self) -> Schema:
        """Return the JSON Schema for the name of a baseline."""
        return {"type": ["string", "number"], "minLength": 1}


@dataclass(frozen=True, slots=True)
class Integer:
    """Reads a whole number from ``low`` to ``high``."""

    low: int
    high: int

    @property
    def text(self) -> str:
        """Return a description of the allowed values, such as "a whole number from 1 to 10"."""
        return f"a whole number from {self.low} to {self.high}"

    def read(self, node: yaml.Node) -> int:
        """Return the integer in a YAML node."""
        value = written(node)
        if not INTEGER.fullmatch(value) or not self.low <= int(value) <= self.high:
            raise InvalidValue(f"{value!r} is not {self.text}")
        return int(value)

    def schema(self) -> Schema:
        """Return the JSON Schema for integers in this range."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Number:
    """Reads a number from ``low`` to ``high``. If ``above`` is true, ``low`` itself is not allowed."""

    low: float
    high: float
    above: bool = False

    @property
    def text(self) -> str:
        """Return a description of the allowed values, such as "a number from 0 to 1"."""
        if self.above:
            return f"a number above {self.low:g} and up to {self.high:g}"
        return f"a number from {self.low:g} to {self.high:g}"

    def read(self, node: yaml.Node) -> float:
        """Return the number in a YAML node."""
        value = written(node)
        number = float(value) if NUMBER.fullmatch(value) else float("nan")
        if not isfinite(number) or not self.low <= number <= self.high or (self.above and number == self.low):
            raise InvalidValue(f"{value!r} is not {self.text}")
        return number

    def schema(self) -> Schema:
        """Return the JSON Schema for numbers in this range."""
        return {"type": "number", "exclusiveMinimum" if self.above else "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Switch:
    """Reads a Boolean value in challenge.yaml."""

    text: str = "true or false"

    def read(self, node: yaml.Node) -> bool:
        """Return the Boolean in a YAML node."""
        value = written(node).lower()
        if value not in SWITCHES:
            raise InvalidValue(f"{value!r} is neither true nor false")
        return SWITCHES[value]

    def schema(self) -> Schema:
        """Return the JSON Schema for Booleans."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Moment:
    """Reads a date and time. A time without a time zone is interpreted as UTC.

    Attributes
    ----------
    begins : bool
        Whether the value is the time at which something begins. If so, a time in the past causes no warning.
    """

    begins: bool = False
    text: str = f"a time from {FIRST_YEAR} to {iso_utc(LAST)}, such as 2026-06-01T00:00:00Z"

    def read(self, node: yaml.Node) -> datetime:
        """Return the time in a YAML node, converted to UTC."""
        value = written(node)
        try:
            time = datetime.fromisoformat(value)
            return stored(time if time.tzinfo else time.replace(tzinfo=UTC))
        except ValueError:
            raise InvalidValue(f"{value!r} is not {self.text}") from None

    def warnings(self, node: yaml.Node) -> Iterator[tuple[str, str]]:
        """Yield the code and message of each warning about a time that is valid but probably not intended."""
        value = written(node)
        if datetime.fromisoformat(value).tzinfo is None:
            yield "no_time_zone", f"has no time zone, so it is read as UTC; write {iso_utc(self.read(node))}"
        if not self.begins and self.read(node) <= datetime.now(UTC):
            yield "date_in_past", f"{value} is in the past"

    def schema(self) -> Schema:
        """Return the JSON Schema for times."""
        return {"type": "string", "pattern": r"^\s*(19|[2-9][0-9])[0-9]{2}-?([0-9]{2}-?[0-9]{2}|W[0-9])"}


@dataclass(frozen=True, slots=True)
class Choice:
    """Reads one of several allowed words."""

    words: Collection[str]

    @property
    def text(self) -> str:
        """Return a description of the allowed values: "one of" and the allowed words."""
        return f"one of {', '.join(self.words)}"

    def read(self, node: yaml.Node) -> str:
        """Return the word in a YAML node. Raises InvalidValue if it is not one of the allowed words."""
        value = written(node)
        if value not in self.words:
            hint = nearest(value, self.words)
            raise InvalidValue(f"{value!r} is not {self.text}{f'; {hint}' if hint else ''}")
        return value

    def schema(self) -> Schema:
        """Return the JSON Schema, which lists the allowed words."""
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class AllowList:
    """Reads a list of email domains, or a list of people (email addresses and usernames).

    ``combine`` checks the items and returns them as one string, and ``pattern`` is their JSON Schema pattern.
    """

    text: str
    combine: Callable[[Iterable[str]], str]
    pattern: str

    def read(self, node: yaml.Node) -> str:
        """Return the items in a YAML node as one string, separated by spaces."""
        if not isinstance(node, yaml.SequenceNode):
            raise InvalidValue(f"expected {self.text}")
        try:
            return self.combine(written(part) for part in node.value)
        except ValueError as error:
            raise InvalidValue(str(error)) from None

    def schema(self) -> Schema:
        """Return the JSON Schema for lists of email domains or of people."""
        return {"type": "array", "items": {"type": "string", "pattern": self.pattern}}


ANY_CASE_DOMAIN = DOMAIN.pattern.replace("a-z", "A-Za-z")
DOMAINS = AllowList("a list of email domains, such as [example.org]", mail_domains, f"^{ANY_CASE_DOMAIN}$")
PEOPLE = AllowList(
    "a list of email addresses and usernames, such as [ada@example.org, bob]",
    allowed_people,
    rf"^[^\s@,]{{1,150}}(@{ANY_CASE_DOMAIN})?$",
)


def parameter(node: yaml.Node) -> str | list[str]:
    """Return the value of a track's parameter as a string or a list of strings, which the track will parse."""
    return [written(part) for part in node.value] if isinstance(node, yaml.SequenceNode) else written(node)
