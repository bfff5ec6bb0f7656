"""Reads one mapping of challenge.yaml key by key. Keys that were not read are mistakes."""

from collections.abc import Callable
from difflib import get_close_matches
from types import TracebackType
from typing import Self, TypeVar

import yaml

from server.organize.services.bundles.mistakes import Mistakes
from server.organize.services.bundles.values import NULL, InvalidValue

T = TypeVar("T")
D = TypeVar("D")


def line_of(node: yaml.Node) -> int:
    """Return the 1-based line where a node starts."""
    return int(node.start_mark.line) + 1


class Section:
    """A mapping of challenge.yaml. At the end of its `with` block, keys that were not read are reported."""

    def __init__(self, node: yaml.Node, mistakes: Mistakes) -> None:
        self._mistakes = mistakes
        self._node = node
        self._read_names: list[str] = []
        self._values: dict[str, yaml.Node] = {}
        self._lines: dict[str, int] = {}
        self._is_mapping = isinstance(node, yaml.MappingNode)
        if not isinstance(node, yaml.MappingNode):
            mistakes.add("bad_value", "expected lines of the form `name: value`", line=line_of(node))
            return
        for key, value in node.value:
            self._enter(key, value)

    def _enter(self, key: yaml.Node, value: yaml.Node) -> None:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else "(not a name)"
        if name in self._lines:
            first = self._lines[name]
            self._mistakes.add("duplicate_key", f"{name}: is already on line {first}; keep one", line=line_of(key))
            return
        self._lines[name] = line_of(key)
        self._values[name] = value

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in (name for name in self._values if name not in self._read_names):
            near = get_close_matches(name, self._read_names, n=1)
            hint = f"did you mean {near[0]}?" if near else f"allowed are {', '.join(self._read_names)}"
            self._mistakes.add("unknown_key", f"{name}: unknown key; {hint}", line=self._lines[name])

    def names(self) -> list[str]:
        """Return all keys, for mappings with arbitrary keys."""
        return list(self._values)

    def has(self, name: str) -> bool:
        """Return whether a key has a value other than `null`."""
        return name in self._values and self._values[name].tag != NULL

    def line(self, name: str = "") -> int:
        """Return the line of a key, or the first line of the section if the key is missing."""
        return self._lines.get(name, line_of(self._node))

    def wrong(self, name: str, code: str, message: str) -> None:
        """Report a mistake at a key."""
        self._mistakes.add(code, f"{name}: {message}", line=self.line(name))

    def warn(self, name: str, code: str, message: str) -> None:
        """Report a warning at a key."""
        self._mistakes.warn(code, f"{name}: {message}", line=self.line(name))

    def take(self, name: str, convert: Callable[[yaml.Node], T], default: D) -> T | D:
        """Return a value, or `default` if the key is missing, null or invalid. Invalid values are reported."""
        self._read_names.append(name)
        if not self.has(name):
            return default
        try:
            return convert(self._values[name])
        except InvalidValue as error:
            self.wrong(name, "bad_value", str(error))
            return default

    def need(self, name: str, convert: Callable[[yaml.Node], T], placeholder: T) -> T:
        """Return a required value. If it is missing, report that and return the placeholder."""
        if not self.has(name) and self._is_mapping:
            self.wrong(name, "missing_key", "is required")
        return self.take(name, convert, placeholder)

    def section(self, name: str) -> "Section":
        """Return the mapping under a key; empty if there is none."""
        self._read_names.append(name)
        empty = yaml.MappingNode("tag:yaml.org,2002:map", [], start_mark=self._node.start_mark)
        return Section(self._values[name] if self.has(name) else empty, self._mistakes)

    def sections(self, name: str) -> list["Section"]:
        """Return the mappings of the list under a key."""
        self._read_names.append(name)
        if not self.has(name):
            return []
        node = self._values[name]
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(name, "bad_value", "expected a list (lines that start with a hyphen)")
            return []
        return [Section(item, self._mistakes) for item in node.value]
