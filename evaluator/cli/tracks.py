"""Implements ``podium tracks``, which lists the tracks with their files, parameters and columns."""

from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from evaluator.catalog import TRACKS, Parameter, Track
from evaluator.cli.exits import Exit
from evaluator.cli.output import write_json
from evaluator.cli.usage import Parser, add_json


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium tracks`` to its parser."""
    add_json(parser)


def run(arguments: Namespace) -> int:
    """Print the files, parameters and columns of every track."""
    if write_json({"tracks": [described(track) for track in TRACKS.values()]}, to=arguments.json):
        print("\n\n".join("\n".join(_text(track)) for track in TRACKS.values()))
    return Exit.DONE


def described(track: Track) -> dict[str, Any]:
    """Return the declaration of a track as a JSON-serializable dict."""
    return {
        "name": track.name,
        "title": track.title,
        "summary": track.summary,
        "headline": track.headline,
        "metrics": [asdict(metric) for metric in track.metrics],
        "parameters": [
            {"name": each.name, "default": each.default, "meaning": each.meaning, "choices": list(each.choices)}
            for each in track.parameters
        ],
        "truth_files": [asdict(file) for file in track.truth_files],
        "submission": {"format": track.form.suffix, "shapes": [asdict(shape) for shape in track.form.shapes]},
        "class_columns": [asdict(column) for column in track.class_columns],
        "tables": [asdict(table) for table in track.tables],
    }


def _text(track: Track) -> Iterator[str]:
    yield track.name
    yield f"  {track.title}. {track.summary}"
    yield "  Metrics (the first one is the headline):"
    yield from _table((metric.name, metric.meaning) for metric in track.metrics)
    if track.parameters:
        yield "  Parameters (--set NAME=VALUE):"
        yield from _table((f"{each.name}={_shown(each)}", each.meaning) for each in track.parameters)
    yield "  Truth folder:"
    yield from _table(
        (file.name, f"{file.meaning}{'' if file.required else ' (optional)'}") for file in track.truth_files
    )
    for shape in track.form.shapes:
        yield f"  Submission, {shape.name[0].lower()}{shape.name[1:]}:"
        yield from (f"    {line}" for line in shape.example.splitlines())


def _shown(parameter: Parameter) -> str:
    """Return the default value of a parameter as a string, in the notation of the --set option."""
    value = parameter.default
    return str(value).lower() if isinstance(value, bool) else parameter.written(value)


def _table(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    listed = list(rows)
    width = max(len(name) for name, _ in listed)
    for name, meaning in listed:
        yield f"    {name:<{width}}  {meaning}"
