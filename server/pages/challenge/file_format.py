"""The file format of a phase, with its parameters, its limits, and commands to check and score a file locally."""

from dataclasses import dataclass
from shlex import quote
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma

from evaluator.catalog import Form, Limits, Parameter, Track
from server.challenges import feedback_leakage
from server.challenges.models import Phase
from server.pages.formatting.units import size

DescriptionList = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The file format of a phase, as shown on the data page.

    `parameters` contains triples (parameter, value, whether the value differs from the parameter's default).
    """

    track: Track
    parameters: list[tuple[Parameter, str, bool]]
    check_command: str
    score_command: str


def file_format(phase: Phase) -> FileFormat:
    """Return the file format of a phase. It depends on the phase's track and parameters."""
    track = phase.declared_track
    values = track.resolve(phase.parameters)
    options = "".join(
        f" \\\n    --set {parameter.name}={quote(command_line_value(parameter, values[parameter.name]))}"
        for parameter in track.parameters
        if values[parameter.name] != parameter.default
    )
    given = f"--kit {phase.download_name('kit.json')}" if phase.kit else track.name
    file = f"--submission predictions.{track.form.suffix}"
    return FileFormat(
        track=track,
        parameters=[
            (one, command_line_value(one, values[one.name]), values[one.name] != one.default)
            for one in track.parameters
        ],
        check_command=f"podium check {given} {file}",
        score_command=f"podium score {track.name} --truth my-truth/ {file}{options}",
    )


def command_line_value(parameter: Parameter, value: Any) -> str:
    """Return a parameter's value as it is written after `--set NAME=` on the command line."""
    if isinstance(value, bool):
        return str(value).lower()
    return parameter.written(value)


def limit_list(of_file: Limits, *, form: Form, upload_bytes: int, scoring_seconds: int) -> DescriptionList:
    """Return the limits for a submitted file, such as its maximum size, as (name, text) pairs."""
    ratio = f"at most {of_file.decompressed_ratio} times the compressed size"
    of_text = [
        ("Uncompressed", f"{size(of_file.decompressed_bytes)}, {ratio}"),
        ("Line", size(of_file.line_bytes)),
        ("Number", f"{of_file.number_characters} characters"),
        ("ID or label", f"{of_file.text_characters} characters"),
    ]
    of_json = [("Uncompressed", f"{size(of_file.json_bytes)}, {ratio}")]
    scoring = (
        f"{scoring_seconds / 60:g} minutes of CPU time; a file that takes longer is not scored, but counts "
        "against the quota"
    )
    return [
        ("Uploaded file", size(upload_bytes)),
        *(of_json if form.kind == "json" else of_text),
        ("Predictions", intcomma(of_file.boxes)),
        ("Images", intcomma(of_file.images)),
        ("Defects", f"the check stops after {intcomma(of_file.defects)} defects"),
        ("Scoring", scoring),
    ]


def submission_terms(phase: Phase) -> DescriptionList:
    """Return the submission quota and the kind of feedback of a phase, as (name, text) pairs."""
    in_total = "" if phase.quota_total is None else f", {intcomma(phase.quota_total)} in total"
    return [
        (
            "Submissions",
            f"{phase.quota_per_day} per team per day (UTC){in_total}; {phase.attempts_per_day} attempts per day, "
            "including rejected files",
        ),
        ("Feedback", feedback_leakage.feedback_text(phase)),
    ]
