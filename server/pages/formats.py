"""A track's file format, parameters and limits in words, with the commands that check and score a file locally."""

from dataclasses import dataclass
from shlex import quote
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma

from evaluator.catalog import Column, Limits, Parameter, Track
from server.challenges.models import Phase
from server.pages import sizes


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to write a submission: a worked example and what its columns or tokens are."""

    name: str
    sentence: str
    example: str
    columns: tuple[Column, ...]
    column_word: str


@dataclass(frozen=True, slots=True)
class Format:
    """Everything the data page says about a phase's files."""

    track: Track
    shapes: list[Shape]
    parameters: list[tuple[Parameter, str, bool]]
    check: str
    score: str


def describe(phase: Phase) -> Format:
    """Describe a phase's format from its track's declaration and its own parameters."""
    track = phase.declared_track
    values = track.resolve(phase.parameters)
    settings = "".join(
        f" \\\n    --set {parameter.name}={quote(typed(parameter, values[parameter.name]))}"
        for parameter in track.parameters
        if values[parameter.name] != parameter.default
    )
    return Format(
        track=track,
        shapes=shapes(track),
        parameters=[(one, typed(one, values[one.name]), values[one.name] != one.default) for one in track.parameters],
        check=f"podium check {track.name} --submission predictions.csv",
        score=f"podium score {track.name} --truth my-truth/ --submission predictions.csv{settings}",
    )


def typed(parameter: Parameter, value: Any) -> str:
    """Return a value as one types it after `--set`."""
    if isinstance(value, bool):
        return str(value).lower()
    return parameter.written(value)


def shapes(track: Track) -> list[Shape]:
    """The two shapes of a CSV submission, each with an example made of the same image."""
    string, row = track.example_rows
    image = row.split(",")[0]
    return [
        Shape(
            name="One row per image",
            sentence="All predictions of an image stand in one string, separated by spaces. "
            "An image without predictions has an empty string.",
            example="\n".join([",".join(track.kaggle_header), f"{image},{string}"]),
            columns=track.tokens,
            column_word="Token",
        ),
        Shape(
            name="One row per prediction",
            sentence="Columns in any order; an image without predictions has no row.",
            example="\n".join([",".join(track.long_header), row]),
            columns=track.long_columns,
            column_word="Column",
        ),
    ]


def limits(of_file: Limits, *, upload: int, seconds: int) -> list[tuple[str, str]]:
    """What a file may hold, as lines of a list."""
    return [
        ("File as sent", sizes.in_words(upload)),
        (
            "Unpacked",
            f"{sizes.in_words(of_file.decompressed_bytes)}, at most {of_file.decompressed_ratio} times the packed size",
        ),
        ("One line", sizes.in_words(of_file.line_bytes)),
        ("Predictions", intcomma(of_file.boxes)),
        ("Images", intcomma(of_file.images)),
        ("A number", f"{of_file.number_characters} characters"),
        ("An id or label", f"{of_file.text_characters} characters"),
        ("Scoring", f"{seconds // 60} minutes"),
    ]
