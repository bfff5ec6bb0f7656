"""A track's file format, parameters and limits in words, with the commands that check and score a file locally."""

from dataclasses import dataclass
from shlex import quote
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma

from evaluator.catalog import TRACKS, Form, Limits, Parameter, Track
from server.challenges import revealed
from server.challenges.models import Phase
from server.pages import sizes


@dataclass(frozen=True, slots=True)
class Format:
    """Everything the data page says about a phase's files."""

    track: Track
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
        parameters=[(one, typed(one, values[one.name]), values[one.name] != one.default) for one in track.parameters],
        check=f"podium check {track.name} --submission predictions.{track.form.suffix}",
        score=f"podium score {track.name} --truth my-truth/ --submission predictions.{track.form.suffix}{settings}",
    )


def track_title(name: str) -> str:
    """Return a track in words; its own name, where the catalogue does not know it any more."""
    return TRACKS[name].title if name in TRACKS else name


def typed(parameter: Parameter, value: Any) -> str:
    """Return a value as one types it after `--set`."""
    if isinstance(value, bool):
        return str(value).lower()
    return parameter.written(value)


def limits(of_file: Limits, *, form: Form, upload: int, seconds: int) -> list[tuple[str, str]]:
    """What a file may hold, as lines of a list."""
    unpacked = sizes.in_words(of_file.decompressed_bytes)
    of_text = [
        ("Uncompressed", f"{unpacked}, at most {of_file.decompressed_ratio} times the compressed size"),
        ("Line", sizes.in_words(of_file.line_bytes)),
        ("Number", f"{of_file.number_characters} characters"),
        ("ID or label", f"{of_file.text_characters} characters"),
    ]
    of_json = [
        (
            "Uncompressed",
            f"{sizes.in_words(of_file.json_bytes)}, at most {of_file.decompressed_ratio} times the compressed size",
        )
    ]
    return [
        ("Uploaded file", sizes.in_words(upload)),
        *(of_json if form.kind == "json" else of_text),
        ("Predictions", intcomma(of_file.boxes)),
        ("Images", intcomma(of_file.images)),
        ("Defects listed", f"the first {intcomma(of_file.defects)}; the check stops there"),
        ("Scoring", f"{seconds / 60:g} minutes of computing time; a file that needs more counts against the quota"),
    ]


def terms(phase: Phase) -> list[tuple[str, str]]:
    """How much a team may submit and what it is shown, as lines of the same list."""
    in_all = "" if phase.quota_total is None else f", {intcomma(phase.quota_total)} in total"
    return [
        (
            "Submissions",
            f"{phase.quota_per_day} a day (UTC) for each team{in_all}; {phase.attempts_per_day} attempts a day, "
            "including rejected files",
        ),
        ("Feedback", revealed.shown(phase)),
    ]
