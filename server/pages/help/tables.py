"""Tables in the handbook: the keys of challenge.yaml, and the ground truth files and parameters of every track."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evaluator.bundle.keys import CHALLENGE, Key
from evaluator.catalog import TRACKS, Parameter, Track, TruthFile
from evaluator.catalog.truth_examples import EXAMPLES


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A row in the handbook's table of challenge.yaml. `path` is a key, such as `phases[].quota.per_day`."""

    path: str
    type: str
    unit: str
    default: str
    example: str
    meaning: str
    reveals: str


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """A row in the handbook's table of a track's parameters."""

    name: str
    type: str
    default: str
    meaning: str


@dataclass(frozen=True, slots=True)
class TrackHelp:
    """The handbook's description of a track: its ground truth files with examples, and its parameters."""

    track: Track
    files: list[tuple[TruthFile, str]]
    parameters: list[ParameterRow]


def key_rows(keys: Iterable[Key] = CHALLENGE, before: str = "") -> Iterator[KeyRow]:
    """Yield a table row for each key of challenge.yaml, in the order of the file."""
    for key in keys:
        path = f"{before}{key.name}"
        yield KeyRow(path, key_type(key), key.unit, default_text(key), key.example, key.meaning, key.reveals)
        yield from key_rows(key.keys, f"{path}[]." if key.repeated else f"{path}.")


def key_type(key: Key) -> str:
    """Return a description of the values that a key of challenge.yaml allows."""
    if key.kind is not None:
        return key.kind.text
    return "a list" if key.repeated else "keys and values"


def default_text(key: Key) -> str:
    """Return the default value of a key of challenge.yaml, as shown in the handbook."""
    if key.required:
        return "required"
    if key.default_text:
        return key.default_text
    if key.keys and not key.repeated:
        return "the defaults of its keys"
    return "none" if key.default in (None, "") else plain_value(key.default)


def plain_value(value: Any) -> str:
    """Return a value as it is written in challenge.yaml."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(plain_value, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def track_help(track: Track) -> TrackHelp:
    """Return a track's reference documentation for the handbook."""
    files = [(file, EXAMPLES[track.name].get(file.name, "")) for file in track.truth_files]
    return TrackHelp(track, files, [parameter_row(parameter) for parameter in track.parameters])


def all_tracks() -> list[TrackHelp]:
    """Return the reference documentation of every track for the handbook."""
    return [track_help(track) for track in TRACKS.values()]


def parameter_row(parameter: Parameter) -> ParameterRow:
    """Return the table row that documents a track's parameter in the handbook."""
    return ParameterRow(
        parameter.name, parameter_type(parameter), plain_value(parameter.default), f"{parameter.meaning}."
    )


def parameter_type(parameter: Parameter) -> str:
    """Return a description of the values that a track's parameter allows."""
    if isinstance(parameter.default, bool):
        return "true or false"
    if parameter.choices:
        return f"one of {', '.join(parameter.choices)}"
    if isinstance(parameter.default, tuple):
        return f"a list of {len(parameter.default)} numbers"
    ends = [f"{name} {end:g}" for name, end in (("from", parameter.low), ("to", parameter.high)) if end is not None]
    return " ".join(["a number", *ends])
