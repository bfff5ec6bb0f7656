"""Exports a challenge as a bundle: a zip file that can be imported on another server.

Importing an exported bundle into an empty server and exporting it again produces an identical file. The only exception
is a phase without a salt (a secret that determines the split), for which the import generates one.
"""

import re
import shutil
import zlib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from itertools import chain, count
from tempfile import TemporaryFile
from typing import IO, Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

import yaml
from django.conf import settings
from django.http import FileResponse

from evaluator.bundle import SHEET
from evaluator.bundle.truths import USAGES
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge, Phase
from server.clock import time_text
from server.errors import Refused
from server.submissions.models import Status, Submission

SECRETS = (
    "The bundle contains the ground truth, the salt and the baselines of every phase. Anyone who has them can "
    "compute private scores, so keep the file secret."
)
PAGES = ("description", "rules", "data")
CHUNK_BYTES = 2**20
# The longest path of a baseline in a bundle has less than 200 bytes, which is the limit of an import.
FILE_NAME_BYTES = 90


@dataclass(frozen=True, slots=True)
class ExportedPhase:
    """A phase to be exported, with its files.

    `truth` contains the names of the files in the zip file with the ground truth. `baselines` contains the submissions
    of baselines, keyed by the names of their files in the bundle.
    """

    phase: Phase
    truth: list[str]
    baselines: dict[str, Submission]


def export_challenge(*, challenge: Challenge, by: User | None, target: IO[bytes]) -> None:
    """Write the bundle of a challenge as a zip file, with the active ground truth of each phase.

    Raises Refused if a phase has no ground truth, or if a stored file is missing or damaged.
    """
    try:
        phases = exported_phases(challenge)
        write_bundle(target, challenge, phases, sheet_values(challenge, phases))
    except (FileNotFoundError, BadZipFile, zlib.error) as error:
        detail = (
            "A stored file of this challenge is missing or damaged, so the challenge cannot be exported. Ask the "
            "operator to restore the file."
        )
        raise Refused("invalid", detail) from error
    audit.record(actor=by, action="challenge.exported", subject=f"challenge {challenge.slug}", detail={})


def exported_phases(challenge: Challenge) -> list[ExportedPhase]:
    """Return the phases of a challenge with their files. Raises Refused if a phase has no ground truth."""
    return [exported(phase) for phase in challenge.phases.order_by("position", "slug")]


def write_bundle(
    target: IO[bytes], challenge: Challenge, phases: list[ExportedPhase], values: Mapping[str, Any]
) -> None:
    """Write a zip file with a challenge's pages, the files of its phases, and `values` as challenge.yaml."""
    with ZipFile(target, "w", ZIP_DEFLATED) as archive:
        write_file(archive, SHEET, BytesIO(sheet_text(values).encode()))
        for name in PAGES:
            if text := getattr(challenge, name):
                write_file(archive, f"{name}.md", BytesIO(text.encode()))
        for one in phases:
            write_phase(archive, one)


def export_response(*, challenge: Challenge, by: User) -> FileResponse:
    """Return a response that downloads a challenge as a bundle (a zip file). The response must not be cached."""
    target = TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115 - the response closes it
    try:
        export_challenge(challenge=challenge, by=by, target=target)
    except BaseException:
        target.close()
        raise
    target.seek(0)
    name = f"{challenge.slug}.zip"
    response = FileResponse(target, as_attachment=True, filename=name, content_type="application/zip")
    response["Cache-Control"] = "no-store"
    return response


def exported(phase: Phase) -> ExportedPhase:
    """Return a phase with its files. Raises Refused if the phase has no ground truth."""
    truth = phase.truth
    if truth is None:
        raise Refused(
            "invalid",
            f"Phase {phase.slug} has no ground truth, so this challenge cannot be exported. Add a ground truth first.",
        )
    with truth.source.open("rb") as source, ZipFile(source) as archive:
        names = sorted(archive.namelist())
    return ExportedPhase(phase, names, baselines_of(phase))


def baselines_of(phase: Phase) -> dict[str, Submission]:
    """Return each baseline's latest usable submission, keyed by file name and sorted by baseline name.

    Rejected, failed and cancelled submissions, and baselines that organizers have removed, are left out.
    """
    left_out = (Status.REJECTED, Status.FAILED, Status.CANCELLED)
    usable = (
        phase.submissions.filter(team__is_baseline=True, team__disqualified_at=None)
        .exclude(status__in=left_out)
        .select_related("team")
    )
    latest = {submission.team.name: submission for submission in usable.order_by("received_at")}
    files: dict[str, Submission] = {}
    for name in sorted(latest):
        files[name_in_bundle(latest[name].file_name, taken=files)] = latest[name]
    return files


def name_in_bundle(file_name: str, *, taken: Container[str]) -> str:
    """Return a name for a baseline's file that an import accepts, and that differs from the names in `taken`.

    Submissions may have names with spaces, colons and backslashes, which bundles do not allow or change.

    >>> name_in_bundle("final:  v2.csv ", taken=["final-v2.csv"])
    '2-final-v2.csv'
    """
    plain = re.sub(r"[^\w.-]+", "-", file_name.strip()).encode()[-FILE_NAME_BYTES:].decode(errors="ignore")
    name = plain.lstrip(".-") or "baseline.csv"
    return next(one for one in chain([name], (f"{number}-{name}" for number in count(2))) if one not in taken)


def write_phase(archive: ZipFile, one: ExportedPhase) -> None:
    """Write the ground truth, the sample submission and the baselines of a phase."""
    folder, truth = f"phases/{one.phase.slug}", one.phase.truth
    assert truth is not None
    with truth.source.open("rb") as source, ZipFile(source) as files:
        for name in one.truth:
            with files.open(name) as file:
                write_file(archive, f"{folder}/truth/{name}", file)
    if sample := one.phase.sample_submission:
        with sample.open("rb") as file:
            write_file(archive, f"{folder}/sample_submission.{one.phase.declared_track.form.suffix}", file)
    for name, submission in one.baselines.items():
        with submission.file.open("rb") as file:
            write_file(archive, f"{folder}/baselines/{name}", file)


def write_file(archive: ZipFile, name: str, source: IO[bytes]) -> None:
    """Add a file to the archive, without a modification date, so that equal challenges produce identical zip files."""
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    with archive.open(entry, "w", force_zip64=True) as copy:
        shutil.copyfileobj(source, copy, CHUNK_BYTES)


def sheet_text(values: Mapping[str, Any]) -> str:
    """Return the content of challenge.yaml, with every setting that has a value."""
    return f"# {SECRETS}\n" + yaml.safe_dump(plain(values), sort_keys=False, allow_unicode=True, width=100)


def sheet_values(challenge: Challenge, phases: list[ExportedPhase]) -> dict[str, Any]:
    """Return the settings of an exported challenge, with the same keys as in challenge.yaml."""
    return {
        "slug": challenge.slug,
        "title": challenge.title,
        "summary": challenge.summary,
        "visibility": challenge.visibility,
        "opens_at": challenge.opens_at,
        "closes_at": challenge.closes_at,
        "join_until": challenge.join_until,
        "registration": challenge.registration,
        "allow": challenge.allowed_domains.split(),
        "allow_people": challenge.allowed_people.split(),
        "contact": challenge.contact,
        "teams": {"max_size": challenge.team_max_size, "merge_until": challenge.merge_until},
        "phases": [phase_values(one) for one in phases],
    }


def phase_values(one: ExportedPhase) -> dict[str, Any]:
    """Return the settings of an exported phase, with the same keys as in challenge.yaml."""
    phase = one.phase
    is_split = phase.public_share < 1 and not any(name in one.truth for name in USAGES)
    return {
        "slug": phase.slug,
        "title": phase.title,
        "track": phase.track,
        "parameters": dict(changed_parameters(phase)),
        "split": {"public": phase.public_share, "seed": phase.split_seed or None} if is_split else {},
        "opens_at": phase.opens_at,
        "closes_at": phase.closes_at,
        "freeze_at": phase.freeze_at,
        "reveal": phase.reveal,
        "quota": {
            "per_day": phase.quota_per_day,
            "total": phase.quota_total,
            "attempts_per_day": phase.attempts_per_day,
        },
        "finals": phase.finals,
        "feedback": {
            "scores": phase.feedback,
            "decimals": phase.feedback_decimals,
            "classes": phase.feedback_classes,
        },
        "ladder": {"standard_errors": phase.ladder_standard_errors} if phase.is_ladder else {},
        "baselines": [
            {"name": submission.team.name, "file": f"baselines/{name}"} for name, submission in one.baselines.items()
        ],
    }


def changed_parameters(phase: Phase) -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a phase that differ from the defaults of its track."""
    defaults = phase.declared_track.resolve({})
    for name, value in phase.parameters.items():
        default = defaults.get(name)
        if value != (list(default) if isinstance(default, tuple) else default):
            yield name, value


def plain(value: Any) -> Any:
    """Convert values for YAML: dates become strings in UTC, and empty values are removed from mappings."""
    if isinstance(value, Mapping):
        converted = {name: plain(one) for name, one in value.items()}
        return {name: one for name, one in converted.items() if one not in (None, "", {}, [])}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, datetime):
        return time_text(value)
    return value
