"""Converters for values of challenge.yaml: each converts a YAML node to a value, or raises InvalidValue.

They read each value as it is written in the file. So YAML tags never create objects, and `title: 2019` is a string.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from math import isfinite

import yaml

from server.challenges.services import tidy_name
from server.challenges.validation import mail_domains
from server.clock import FIRST_YEAR, stored
from server.errors import Refused
from server.texts import one_line

NULL = "tag:yaml.org,2002:null"
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class InvalidValue(ValueError):
    """A value that is not allowed. The message says what is expected."""


def written(node: yaml.Node) -> str:
    """Return the text of a plain value (a YAML scalar)."""
    if not isinstance(node, yaml.ScalarNode) or node.tag == NULL:
        raise InvalidValue("expected one plain value")
    return str(node.value).strip()


def text(most: int) -> Callable[[yaml.Node], str]:
    def convert(node: yaml.Node) -> str:
        try:
            return one_line(written(node), most)
        except ValueError as error:
            raise InvalidValue(str(error)) from None

    return convert


def slug(node: yaml.Node) -> str:
    value = written(node)
    if not SLUG.fullmatch(value) or len(value) > 80:
        raise InvalidValue(f"{value!r} is not a short name: lower-case letters, digits and single hyphens, at most 80")
    return value


def integer(low: int, high: int) -> Callable[[yaml.Node], int]:
    def convert(node: yaml.Node) -> int:
        value = written(node)
        if not INTEGER.fullmatch(value) or not low <= int(value) <= high:
            raise InvalidValue(f"{value!r} is not a whole number from {low} to {high}")
        return int(value)

    return convert


def share(node: yaml.Node) -> float:
    value = written(node)
    if not NUMBER.fullmatch(value) or not isfinite(float(value)) or not 0 < float(value) <= 1:
        raise InvalidValue(
            f"{value!r} is not a fraction above 0 and up to 1; without public images nobody would see a score"
        )
    return float(value)


def number(least: float, most: float) -> Callable[[yaml.Node], float]:
    def convert(node: yaml.Node) -> float:
        value = written(node)
        if not NUMBER.fullmatch(value) or not least <= float(value) <= most:
            raise InvalidValue(f"{value!r} is not a number from {least:g} to {most:g}")
        return float(value)

    return convert


def switch(node: yaml.Node) -> bool:
    value = written(node).lower()
    if value not in SWITCHES:
        raise InvalidValue(f"{value!r} is neither true nor false")
    return SWITCHES[value]


def moment(node: yaml.Node) -> datetime:
    """Return a time. A time without a time zone is in UTC."""
    value = written(node)
    try:
        time = datetime.fromisoformat(value)
        return stored(time if time.tzinfo else time.replace(tzinfo=UTC))
    except ValueError:
        raise InvalidValue(f"{value!r} is not a time from {FIRST_YEAR} on, such as 2026-06-01T00:00:00Z") from None


def one_of(*words: str) -> Callable[[yaml.Node], str]:
    def convert(node: yaml.Node) -> str:
        value = written(node)
        if value not in words:
            raise InvalidValue(f"{value!r} is not one of {', '.join(words)}")
        return value

    return convert


def domains(node: yaml.Node) -> str:
    """Return a list of mail domains as one string, separated by spaces."""
    if not isinstance(node, yaml.SequenceNode):
        raise InvalidValue("expected a list of mail domains, such as [example.org]")
    try:
        return mail_domains(written(part) for part in node.value)
    except ValueError as error:
        raise InvalidValue(str(error)) from None


def parameter(node: yaml.Node) -> str | list[str]:
    """Return the text of a parameter, or the texts of its list. The track converts them to the parameter's type."""
    return [written(part) for part in node.value] if isinstance(node, yaml.SequenceNode) else written(node)


def team_name(node: yaml.Node) -> str:
    try:
        return tidy_name(written(node))
    except Refused as error:
        raise InvalidValue(error.detail) from None
