"""Reads a mapping in challenge.yaml. Values are checked against the declared keys, and unknown keys are reported."""

from typing import Any

import yaml

from evaluator.bundle.keys import Key
from evaluator.bundle.mistakes import Mistakes
from evaluator.bundle.values import NULL, InvalidValue, Moment, nearest, parameter

# Maximum length of a list in challenge.yaml. Every item is checked, and YAML aliases can expand a list in a small file
# to an enormous length.
LIST_MAX = 100


def line_of(node: yaml.Node) -> int:
    """Return the number of the line where a YAML node starts, counted from 1."""
    return int(node.start_mark.line) + 1


class Section:
    """A mapping in challenge.yaml, such as the quota of a phase.

    Parameters
    ----------
    node : yaml.Node
    keys : tuple of Key
        The keys that are allowed. Other keys are reported, unless ``is_open`` is true.
    mistakes : Mistakes
    path : str
        Path of the mapping in challenge.yaml, such as ``phases[0].quota``; empty for the whole file.
    is_open : bool
        Whether any key is allowed, as in the parameters of a track.
    """

    def __init__(
        self, node: yaml.Node, keys: tuple[Key, ...], mistakes: Mistakes, *, path: str = "", is_open: bool = False
    ) -> None:
        self.mistakes = mistakes
        self._node = node
        self._keys = {key.name: key for key in keys}
        self._path = path
        self._values: dict[str, yaml.Node] = {}
        self._lines: dict[str, int] = {}
        self._is_mapping = isinstance(node, yaml.MappingNode)
        if not isinstance(node, yaml.MappingNode):
            message = "expected lines of the form `name: value`"
            mistakes.add("bad_value", message, line=line_of(node), key=path or None)
            return
        for key, value in node.value:
            self._enter(key, value)
        for name in [] if is_open else [name for name in self._values if name not in self._keys]:
            hint = nearest(name, self._keys) or f"expected one of: {', '.join(self._keys)}"
            self.wrong(name, "unknown_key", f"unknown key; {hint}")

    def _enter(self, key: yaml.Node, value: yaml.Node) -> None:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else "(not a name)"
        if name in self._lines:
            message = f"is already on line {self._lines[name]}; keep one"
            self.mistakes.add("duplicate_key", message, line=line_of(key), key=self.path(name))
            return
        self._lines[name] = line_of(key)
        self._values[name] = value

    def path(self, name: str) -> str:
        """Return the full path of a key of this mapping, such as ``phases[0].slug``."""
        return f"{self._path}.{name}" if self._path else name

    def names(self) -> list[str]:
        """Return the names of all keys in this mapping of challenge.yaml."""
        return list(self._values)

    def has(self, name: str) -> bool:
        """Return whether this mapping has a value for a key. A value of `null` does not count."""
        return name in self._values and self._values[name].tag != NULL

    def line(self, name: str = "") -> int:
        """Return the line number of a key, or of the first line of this mapping if the key is missing."""
        return self._lines.get(name, line_of(self._node))

    def text(self, name: str) -> str:
        """Return the value of a key as written in challenge.yaml; empty if it is missing or not a scalar."""
        node = self._values.get(name)
        return str(node.value).strip() if isinstance(node, yaml.ScalarNode) else ""

    def wrong(self, name: str, code: str, message: str) -> None:
        """Report an error in the value of a key of this mapping."""
        self.mistakes.add(code, message, line=self.line(name), key=self.path(name))

    def warn(self, name: str, code: str, message: str) -> None:
        """Report a warning about the value of a key of this mapping."""
        self.mistakes.warn(code, message, line=self.line(name), key=self.path(name))

    def take(self, name: str, **other: Any) -> Any:
        """Return the value of a key, or the default if the key is missing, null or invalid.

        Invalid values and missing required keys are reported as errors. ``default`` replaces the declared default.
        """
        key = self._keys[name]
        default = other.get("default", key.default)
        if not self.has(name):
            if key.required and self._is_mapping:
                self.wrong(name, "missing_key", "is required")
            return default
        assert key.kind is not None
        try:
            value = key.kind.read(self._values[name])
        except InvalidValue as error:
            self.wrong(name, "bad_value", str(error))
            return default
        if isinstance(key.kind, Moment):
            for code, message in key.kind.warnings(self._values[name]):
                self.warn(name, code, message)
        return value

    def parameters(self) -> dict[str, str | list[str]]:
        """Return the values of all keys as strings or lists of strings, which the track parses as its parameters.

        Other values, such as mappings, are reported as errors.
        """
        taken = {}
        for name in (name for name in self._values if self.has(name)):
            try:
                taken[name] = parameter(self._values[name])
            except InvalidValue as error:
                self.wrong(name, "bad_value", str(error))
        return taken

    def section(self, name: str) -> "Section":
        """Return the mapping that is the value of a key. It is empty if the key is missing."""
        key = self._keys[name]
        empty = yaml.MappingNode("tag:yaml.org,2002:map", [], start_mark=self._node.start_mark)
        node = self._values[name] if self.has(name) else empty
        return Section(node, key.keys, self.mistakes, path=self.path(name), is_open=key.by_track)

    def sections(self, name: str) -> list["Section"]:
        """Return the mappings in the list that is the value of a key."""
        if not self.has(name):
            return []
        node = self._values[name]
        if not isinstance(node, yaml.SequenceNode):
            self.wrong(name, "bad_value", "expected a list (lines that start with a hyphen)")
            return []
        if len(node.value) > LIST_MAX:
            self.wrong(name, "too_large", f"has {len(node.value):,} items; at most {LIST_MAX} are allowed")
        keys, path, items = self._keys[name].keys, self.path(name), node.value[:LIST_MAX]
        return [Section(item, keys, self.mistakes, path=f"{path}[{at}]") for at, item in enumerate(items)]
