"""Generates the JSON Schema of challenge.yaml, which editors use to complete and validate the file."""

from typing import Any

from evaluator.bundle.keys import CHALLENGE, Key
from evaluator.bundle.section import LIST_MAX
from evaluator.bundle.values import Schema
from evaluator.catalog import TRACKS, Parameter, Track

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def challenge_schema() -> Schema:
    """Return the JSON Schema of challenge.yaml. It omits rules that depend on other files or on several keys."""
    return {"$schema": DRAFT, "title": "challenge.yaml of Podium", **_mapping(CHALLENGE)}


def _mapping(keys: tuple[Key, ...]) -> Schema:
    schema: Schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {key.name: _described(key) for key in keys},
    }
    if required := [key.name for key in keys if key.required]:
        schema["required"] = required
    if any(key.by_track for key in keys):
        schema["allOf"] = [_for_track(track) for track in TRACKS.values()]
    return schema


def _described(key: Key) -> Schema:
    """Return the JSON Schema of a key, with its description. Optional keys may be null, which selects the default."""
    value = _value(key)
    schema = value if key.required else {"anyOf": [value, {"type": "null"}]}
    about: Schema = {"description": " ".join(filter(None, (key.meaning, key.reveals)))}
    if key.default not in (None, ""):
        about["default"] = key.default
    return {**about, **schema}


def _value(key: Key) -> Schema:
    if key.by_track:
        return {"type": "object"}
    if key.kind is not None:
        return key.kind.schema()
    if key.repeated:
        least = {"minItems": 1} if key.required else {}
        return {"type": "array", "items": _mapping(key.keys), **least, "maxItems": LIST_MAX}
    return _mapping(key.keys)


def _for_track(track: Track) -> Schema:
    """Return a JSON Schema rule: phases with this track may only set the parameters of this track."""
    parameters = {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {parameter.name: _parameter(parameter) for parameter in track.parameters},
    }
    return {
        "if": {"properties": {"track": {"const": track.name}}, "required": ["track"]},
        "then": {"properties": {"parameters": parameters}},
    }


def _parameter(parameter: Parameter) -> Schema:
    number: dict[str, Any] = {"type": "integer" if type(parameter.default) is int else "number"}
    number |= {"minimum": parameter.low} if parameter.low is not None else {}
    number |= {"maximum": parameter.high} if parameter.high is not None else {}
    if isinstance(parameter.default, bool):
        value: Schema = {"type": "boolean"}
    elif isinstance(parameter.default, tuple):
        count = len(parameter.default)
        value = {"type": ["array", "string"], "items": number, "minItems": count, "maxItems": count}
    else:
        value = {"enum": list(parameter.choices)} if parameter.choices else number
    return {"description": parameter.meaning, "default": parameter.default, "anyOf": [value, {"type": "null"}]}
