"""Form fields for values that can also be set by keys of challenge.yaml.

A field has the same type, description and error messages as its key.
"""

from datetime import UTC, datetime
from typing import Any

import yaml
from django import forms
from django.core.exceptions import ValidationError

from evaluator.bundle.keys import Key
from evaluator.bundle.values import AllowList, Choice, Integer, InvalidValue, Moment, Number, Switch

STRING, LIST = "tag:yaml.org,2002:str", "tag:yaml.org,2002:seq"
INPUT_FORMAT = "%Y-%m-%dT%H:%M:%S"


def find_key(keys: tuple[Key, ...], path: str) -> Key:
    """Return the declaration of a key of challenge.yaml, found by its path, such as `teams.max_size`.

    >>> from evaluator.bundle.keys import CHALLENGE
    >>> find_key(CHALLENGE, "teams.max_size").name
    'max_size'
    """
    first, _, rest = path.partition(".")
    found = next(key for key in keys if key.name == first)
    return find_key(found.keys, rest) if rest else found


class KeyField(forms.Field):
    """A form field for the value of a key in challenge.yaml.

    Numbers and strings are entered in a single-line input. Dates are in UTC unless they contain a time zone.
    """

    def __init__(self, key: Key, *, label: str, required: bool = False) -> None:
        self.key = key
        super().__init__(label=label, required=required, widget=widget_of(key), help_text=help_of(key, required))

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, datetime):
            return f"{value.astimezone(UTC):{INPUT_FORMAT}}"
        return value

    def to_python(self, value: Any) -> Any:
        """Return the value that the entered text would have in challenge.yaml.

        Raises ValidationError with the label of the field if the text is not valid.
        """
        text = str(value if value is not None else "").strip()
        if not text:
            return "" if self.key.default == "" else None
        assert self.key.kind is not None
        try:
            return self.key.kind.read(node_of(self.key, text))
        except InvalidValue as error:
            raise ValidationError(f"{self.label}: {error}.", code="bad_value") from None

    def validate(self, value: Any) -> None:
        if self.required and value in (None, ""):
            raise ValidationError(f"{self.label}: this field is required.", code="required")

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(self.prepare_value(initial)) != self.to_python(data))
        except ValidationError:
            return True


class TextField(forms.CharField):
    """A form field for Markdown text. It converts CRLF line endings, which browsers submit, to LF."""

    def __init__(self, *, label: str) -> None:
        super().__init__(label=label, required=False, strip=False, widget=forms.Textarea(attrs={"rows": 12}))

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return text.replace("\r\n", "\n")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(initial or "") != self.to_python(data))


def node_of(key: Key, text: str) -> yaml.Node:
    """Return the text entered in a form field as a YAML node, as if it were read from challenge.yaml.

    In lists of email domains or people, the items can be separated by spaces, commas or line breaks.
    """
    if isinstance(key.kind, AllowList):
        return yaml.SequenceNode(LIST, [yaml.ScalarNode(STRING, one) for one in text.replace(",", " ").split()])
    return yaml.ScalarNode(STRING, text)


def widget_of(key: Key) -> forms.Widget:
    kind = key.kind
    if isinstance(kind, Choice):
        return forms.Select(choices=[(word, word) for word in kind.words])
    if isinstance(kind, Switch):
        return forms.CheckboxInput()
    if isinstance(kind, Moment):
        return forms.DateTimeInput(format=INPUT_FORMAT, attrs={"type": "datetime-local", "step": "1", "data-utc": ""})
    if isinstance(kind, Integer | Number):
        return forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"})
    return forms.TextInput(attrs={"autocomplete": "off"})


def help_of(key: Key, required: bool) -> str:
    """Return the help text of a form field: its meaning, its default, and what the setting reveals to participants."""
    zone = "In UTC." if isinstance(key.kind, Moment) else ""
    default = "" if required or isinstance(key.kind, Switch) or key.default_text == "empty" else key.default_text
    words = [key.meaning, zone, f"If empty: {default}." if default else "", key.reveals]
    return " ".join(word for word in words if word).replace("`", "")
