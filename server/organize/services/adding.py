"""Creates challenges and phases from forms.

The same checks apply as for an import. A new phase includes its ground truth.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from django.conf import settings
from django.db import transaction

from evaluator.bundle import SHEET, InvalidBundle, Mistakes
from evaluator.bundle.checking import check_files
from evaluator.bundle.mistakes import ignore
from evaluator.problems import Problem
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Challenge, Phase
from server.challenges.roles import Right, refuse_without
from server.challenges.services import lock_organized
from server.clock import database_now
from server.errors import Refused
from server.organize import podium
from server.organize.services import bundles, gates, salts
from server.organize.services.bundle_uploads import require_may_import
from server.organize.services.exporting import exported, phase_values, plain
from server.organize.services.new_files import NewFiles
from server.organize.services.phases import write_phase
from server.organize.services.preparing import prepare_and_test
from server.stored_files.copies import local_copy

FIRST = "phases[0]."
NOT_CLONED = ("opens_at", "closes_at", "freeze_at", "baselines")


@transaction.atomic
def create_challenge(*, by: User, slug: str, title: str, summary: str = "", contact: str = "") -> Challenge:
    """Create a challenge without phases.

    It is a draft that only its organizers can see. The user `by` becomes its owner.
    """
    require_may_import(by)
    if Challenge.objects.filter(slug=slug).exists():
        raise Refused(
            "invalid", f"Short name: {slug} is already the short name of another challenge. Choose another one."
        )
    now = database_now().replace(microsecond=0)
    fields = {"title": title, "summary": summary, "contact": contact, "visibility": Challenge.Visibility.DRAFT}
    challenge = Challenge.objects.create(slug=slug, opens_at=now, **fields)
    challenge.organizers.add(by)
    detail = {"fields": sorted(fields), "slug": slug}
    audit.record(actor=by, action="challenge.added", subject=f"challenge {challenge.pk}", detail=detail)
    return challenge


def add_phase(
    *,
    challenge: Challenge,
    by: User,
    values: Mapping[str, Any],
    truth: Path,
    sample: Path | None = None,
    warn: Callable[[Problem], None] = ignore,
) -> Phase:
    """Add a phase with a ground truth from a zip file. `values` has the same keys as a phase in challenge.yaml.

    The ground truth is prepared, and its gate (a series of checks) is run. Raises InvalidBundle with all errors, each
    with the key to which it belongs. `warn` is called with each warning, for example if a gate check is red.
    """
    refuse_without(Right.EDIT, by=by, challenge=challenge)
    with TemporaryDirectory(prefix="phase-", dir=settings.FILE_UPLOAD_TEMP_DIR) as name:
        workspace = Path(name)
        mistakes = Mistakes()
        try:
            write_bundle(workspace / "bundle", challenge, values, truth, sample)
            bundle = salts.salted(bundles.read_with_mistakes(workspace / "bundle", mistakes), mistakes)
            prepared = check_files(
                bundle.phases, lambda each: prepare_and_test(each, workspace, phase=None), podium.answer, mistakes
            )
            mistakes.stop_if_any()
            with transaction.atomic(), NewFiles() as files:
                phase = new_phase(challenge, bundle.phases[0].slug, by, mistakes)
                ready = prepared[phase.slug]
                position = challenge.phases.count()
                write_phase(phase, bundle.phases[0], position=position, prepared=ready, files=files, mistakes=mistakes)
                mistakes.stop_if_any()
                detail = {"fields": ["parameters", "title", "track"], "truth": ready.sha256}
                audit.record(actor=by, action="phase.added", subject=f"phase {phase.pk}", detail=detail)
        except InvalidBundle as error:
            raise InvalidBundle(map(of_form, error.problems), map(of_form, error.warnings)) from error
    for warning in mistakes.warnings:
        warn(of_form(warning))
    return phase


def clone_phase(
    *, phase: Phase, by: User, values: Mapping[str, Any], warn: Callable[[Problem], None] = ignore
) -> Phase:
    """Add a copy of a phase, with the same settings, ground truth, split and sample submission.

    `values` contains the new phase's short name, title and dates. Baselines and submissions are not copied. `warn` is
    called with each warning.
    """
    refuse_without(Right.EDIT, by=by, challenge=phase.challenge)
    source = exported(phase)
    kept = {name: value for name, value in phase_values(source).items() if name not in NOT_CLONED}
    assert phase.truth is not None  # `exported` raises Refused for a phase without a ground truth.
    with gates.sample_of(phase) as sample, local_copy(phase.truth.source) as truth:
        given = {**kept, **values}
        return add_phase(challenge=phase.challenge, by=by, values=given, truth=truth, sample=sample, warn=warn)


def write_bundle(
    folder: Path, challenge: Challenge, values: Mapping[str, Any], truth: Path, sample: Path | None
) -> None:
    """Write a bundle with the title and dates of a challenge, and one phase with the given values and ground truth."""
    home = folder / "phases" / "new"
    home.mkdir(parents=True)
    with bundles.opened(truth) as opened:
        shutil.copytree(opened, home / "truth")
    sheet = {
        "slug": challenge.slug,
        "title": challenge.title,
        "opens_at": challenge.opens_at,
        "closes_at": challenge.closes_at,
        "contact": challenge.contact or challenge.slug,
        "phases": [values],
    }
    (folder / SHEET).write_text(yaml.safe_dump(plain(sheet), sort_keys=False, allow_unicode=True))
    if sample:
        shutil.copy(sample, home / f"sample_submission{sample.suffix}")
    slug = str(values.get("slug", ""))
    # The folder of the phase is named after its slug. A slug that cannot be a folder name is reported as an error
    # later.
    if slug and slug == Path(slug).name:
        home.rename(home.with_name(slug))


def new_phase(challenge: Challenge, slug: str, by: User, mistakes: Mistakes) -> Phase:
    """Lock the challenge and return an unsaved phase. Raises InvalidBundle if another phase has the same short name."""
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    if locked.phases.filter(slug=slug).exists():
        mistakes.add("duplicate_phase", f"{slug} is the short name of another phase", key=f"{FIRST}slug")
        mistakes.stop_if_any()
    return Phase(challenge=locked, slug=slug)


def of_form(problem: Problem) -> Problem:
    """Remove the file name and line number from a problem, because the user filled in a form, not challenge.yaml."""
    if problem.file != SHEET:
        return problem
    return replace(problem, line=None, file=None, column=(problem.column or "").removeprefix(FIRST) or None)
