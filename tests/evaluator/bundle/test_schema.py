"""The JSON Schema of challenge.yaml and the importer agree: both report errors at the same keys."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from evaluator.bundle import Mistakes, read_with_mistakes
from evaluator.bundle.schema import challenge_schema

ROOT = Path(__file__).parents[3]
SHIPPED = sorted((ROOT / "server/organize/demo/texts").glob("*/challenge.yaml"))
CODES = {"additionalProperties": "unknown_key", "required": "missing_key", "minItems": "missing_key"}
SHEET = """\
slug: animals
title: Animals
contact: organizers@example.org
phases:
  - slug: main
    track: openimages-detection
"""


class Loader(yaml.SafeLoader):
    """A YAML loader that loads dates as strings, as text editors with schema support do."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def leaves(errors: list[ValidationError]) -> Iterator[ValidationError]:
    """Yield the innermost validation errors.

    If an optional value is wrong, omit the additional error that the value is not null.
    """
    for error in errors:
        inner = [one for one in error.context or [] if one.validator_value != "null"]
        yield from leaves(inner) if inner else [error]


def refused(sheet: str) -> set[tuple[str, str]]:
    """Return the error code and YAML key of each error that validation against the schema finds."""
    found = set()
    for error in leaves(list(Draft202012Validator(challenge_schema()).iter_errors(yaml.load(sheet, Loader)))):
        path = error.json_path.removeprefix("$").removeprefix(".")
        code = CODES.get(str(error.validator), "bad_value")
        names: list[Any] = [None]
        if error.validator == "additionalProperties":
            names = [name for name in error.instance if name not in error.schema["properties"]]
        if error.validator == "required":
            names = [name for name in error.validator_value if name not in error.instance]
        code = "bad_parameter" if ".parameters" in path and code != "missing_key" else code
        found |= {(code, ".".join(filter(None, (path, name)))) for name in names}
    return found


def reported(sheet: str, folder: Path) -> set[tuple[str, str | None]]:
    """Return the error code and YAML key of each error that the importer reports in challenge.yaml."""
    (folder / "challenge.yaml").write_text(sheet)
    mistakes = Mistakes()
    read_with_mistakes(folder, mistakes)
    return {(one.code, one.column) for one in mistakes.error().problems if one.file == "challenge.yaml"}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_every_shipped_bundle_is_valid(path: Path) -> None:
    # In the bundles of the demo, dates are placeholders such as $opens_at. Replace them with a date, as `manage.py
    # demo` does.
    sheet = re.sub(r"\$\w+", "2026-01-01T00:00:00Z", path.read_text())
    assert refused(sheet) == set()


def test_the_schema_itself_is_valid() -> None:
    Draft202012Validator.check_schema(challenge_schema())


BROKEN = [
    ("title: Animals\n", "titel: Animals\n"),
    ("title: Animals\n", "title: [a]\n"),
    ("title: Animals\n", "title: yes\n"),
    ("detection\n", "detection\n    finals: {a: 1}\n"),
    ("detection\n", "detection\n    quota: 5\n"),
    ("title: Animals\n", f"title: {'x' * 121}\n"),
    ("title: Animals\n", ""),
    ("slug: animals", "slug: Animals!"),
    ("title: Animals\n", "title: Animals\nvisibility: publik\n"),
    ("title: Animals\n", "title: Animals\nopens_at: soon\n"),
    ("title: Animals\n", "title: Animals\nregistration: closed\n"),
    ("title: Animals\n", "title: Animals\nallow: example.org\n"),
    ("title: Animals\n", "title: Animals\nteams: {max_size: 0}\n"),
    ("title: Animals\n", "title: Animals\nteams: {size: 5}\n"),
    ("slug: main", "slug: a--b"),
    ("detection\n", "detektion\n"),
    ("    track: openimages-detection\n", ""),
    ("detection\n", "detection\n    finals: 0\n"),
    ("detection\n", "detection\n    finals: many\n"),
    ("detection\n", "detection\n    split: {public: 0}\n"),
    ("detection\n", "detection\n    split: {public: 1.5}\n"),
    ("detection\n", "detection\n    quota: {per_day: 0}\n"),
    ("detection\n", "detection\n    quota: {daily: 5}\n"),
    ("detection\n", "detection\n    feedback: {scores: all}\n"),
    ("detection\n", "detection\n    feedback: {classes: perhaps}\n"),
    ("detection\n", "detection\n    parameters: {iou_treshold: 0.5}\n"),
    ("detection\n", "detection\n    parameters: {iou_threshold: 7}\n"),
    ("detection\n", "detection\n    parameters: {protocol: coco}\n"),
]


@pytest.mark.parametrize(("old", "new"), BROKEN)
def test_schema_and_importer_refuse_a_yaml_file_for_the_same_reason(old: str, new: str, tmp_path: Path) -> None:
    sheet = SHEET.replace(old, new, 1)
    assert sheet != SHEET
    assert refused(sheet) == reported(sheet, tmp_path) != set()
