"""Creates the examples in the OpenAPI schema: values that are valid for the schema of a request or response."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

FORMATS = {
    "uuid": "0b8e4c1a-6f0d-4c55-9a51-2f6f6f6f0a11",
    "date-time": "2026-05-03T12:00:00Z",
    "date": "2026-05-03",
    "uri": "https://podium.example.org/",
    "email": "ada@example.org",
}
# `NAMED` contains example values by field name, which are more helpful than values generated from types. They fit all
# serializers, because fields with the same name have the same meaning everywhere.
NAMED: Mapping[str, Any] = {
    "challenge": "cats-and-dogs",
    "slug": "cats-and-dogs",
    "phase": "main",
    "team": "Owls",
    "username": "ada",
    "file_name": "predictions.csv",
    "metric": "mAP",
    "split": "public",
    "note": "a larger model",
    "stage": "matching",
    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "signature": "openimages-classification|truth:1a42361f0825|evaluator:1.1.0",
    "title": "Cats and dogs",
    "image": "0001eeaf4aed83f9",
    "column": "Score",
    "code": "not_finite",
    "rank": 3,
    "count": 1,
}
MOST_LEVELS = 7
PREFIX = "#/components/schemas/"


def example_of(schema: Schema, components: Schema, *, name: str = "", level: int = 0) -> Any:
    """Return an example value that is valid for a JSON schema. `name` is the name of the field with this schema."""
    if "$ref" in schema:
        return example_of(components[schema["$ref"].removeprefix(PREFIX)], components, name=name, level=level)
    for choice in ("allOf", "oneOf", "anyOf"):
        if choice in schema:
            return example_of(schema[choice][0], components, name=name, level=level)
    if "enum" in schema:
        return "scored" if "scored" in schema["enum"] else schema["enum"][0]
    kinds = schema.get("type", "object")
    kind = kinds[0] if isinstance(kinds, list) else kinds
    if kind == "object":
        return object_example(schema, components, level=level)
    if kind == "array":
        item = example_of(schema.get("items", {}), components, name=name, level=level + 1)
        return [] if level >= MOST_LEVELS else [item] * max(1, schema.get("minItems", schema.get("minLength", 1)))
    return simple_example(schema, kind, name)


def object_example(schema: Schema, components: Schema, *, level: int) -> dict[str, Any]:
    if level >= MOST_LEVELS:
        return {}
    found = {
        field: example_of(value, components, name=field, level=level + 1)
        for field, value in schema.get("properties", {}).items()
    }
    values = schema.get("additionalProperties")
    if not found and isinstance(values, Mapping):
        found["public" if level < 2 else "mAP"] = example_of(values, components, level=level + 1)
    return found


def simple_example(schema: Schema, kind: str, name: str) -> Any:
    named = NAMED.get(name)
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        default = 1 if kind == "integer" else 0.5
        return named if isinstance(named, int) else schema.get("minimum", default)
    if "format" in schema:
        return FORMATS.get(schema["format"], "")
    return named if isinstance(named, str) else "text"
