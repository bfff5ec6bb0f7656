"""A program that imports bundles while submissions to their phases are uploaded, scored and cancelled.

An import locks the database rows of its phases. An upload that uses quota also locks the row of its phase. An import
with a new ground truth removes baselines that are being scored. If two transactions waited for each other, PostgreSQL
would end one of them with an error.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

# The module race_quota must be imported first, because it sets up Django.
from tests.flows.race_quota import at_once, upload

# isort: split
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import connection, transaction

from evaluator.bundle.mistakes import Mistakes
from server.accounts.models import User
from server.challenges.gate import tested_settings
from server.challenges.models import Phase, Team
from server.challenges.services import join
from server.errors import Refused
from server.organize.services import bundles, importing
from server.organize.services.new_files import NewFiles
from server.organize.services.preparing import Prepared, sha256_of
from server.submissions.models import Submission
from server.submissions.services import intake, leases, lifecycle

EACH, ROUNDS = 5, 4
FINDINGS = {"errors": [], "counts": {"bad_row": 1}, "notices": [], "total": 1}
REPORT = {"signature": "s", "splits": {"public": {"metrics": {"mAP": 0.5}, "intervals": {}}}}
SHEET = """
slug: race
title: Race {number}
phases:
  - {{slug: teams, title: Teams {number}, track: openimages-detection, quota: {{per_day: 9999}}}}
  - {{slug: baselines, title: Baselines, track: openimages-detection}}
"""


def main() -> None:
    call_command("migrate", verbosity=0)
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as workspace:
        folder = Path(workspace)
        write_bundle(folder)
        for number in range(ROUNDS):
            imported(folder, number)
            outcomes.update(one_round(folder, number))
    print(json.dumps(outcomes))


def write_bundle(folder: Path) -> None:
    for phase in ("teams", "baselines"):
        (folder / "phases" / phase / "truth").mkdir(parents=True)
        for name in ("boxes.csv", "image_labels.csv"):
            (folder / "phases" / phase / "truth" / name).touch()


def imported(folder: Path, number: int, *, truth: str = "") -> str:
    """Import a challenge bundle, using fake prepared ground truths so that no child process is started."""
    (folder / "challenge.yaml").write_text(SHEET.format(number=f"{number}{truth}"))
    bundle, prepared = bundles.read(folder), {}
    for phase in bundle.phases:
        slug = phase.slug
        files = [folder / f"{slug}.{kind}" for kind in ("podium", "zip", "csv", "kit.json")]
        for file in files:
            file.write_text(slug)
        settings = tested_settings(phase, sha256_of(files[2]))
        sha256 = (f"{number}{truth}" if slug == "baselines" else "").rjust(64, "0")
        prepared[slug] = Prepared(sha256, 1, *files, private=False, gate={"settings": settings, "green": True})
    with transaction.atomic(), NewFiles() as files_of_it:
        importing.write(bundle, prepared, Mistakes(), files=files_of_it, by=None)
    return "imported"


def one_round(folder: Path, number: int) -> list[str]:
    teams, baselines = Phase.objects.order_by("position")
    user = User.objects.create_user(f"ada{number}", f"ada{number}@example.org")
    team = join(user=user, challenge=teams.challenge, accept_rules=True).team
    nobody, _ = Team.objects.get_or_create(challenge=teams.challenge, name="Baseline", is_baseline=True)
    own, theirs = [], []
    for which in range(3 * EACH):
        file = ContentFile(f"{number} {which}".encode(), "a.csv")
        own.append(intake.submit(user=user, team=team, phase=teams, file=file))
        theirs.append(intake.submit(user=None, team=nobody, phase=baselines, file=file, charge=False))
    deeds: list[Callable[[], str]] = [partial(imported, folder, number, truth="b")]
    deeds += [partial(upload, user, team, teams, 1000 * number + which) for which in range(EACH)]
    for several in (own, theirs):
        deeds += [partial(end, claimed(one), reject=True) for one in several[:EACH]]
        deeds += [partial(end, claimed(one), reject=False) for one in several[EACH : 2 * EACH]]
        deeds += [partial(cancel, one, user) for one in several[2 * EACH :]]
    connection.close()
    return at_once(len(deeds), lambda which: deeds[which]())


def claimed(submission: Submission) -> Submission:
    found = leases.claim(Submission, submission.pk)
    assert found is not None
    return found


def end(submission: Submission, *, reject: bool) -> str:
    """Reject or score a submission, as a worker would.

    This must not raise an error, even if the import has already removed the submission.
    """
    if reject:
        lifecycle.reject(submission, findings=FINDINGS)
    else:
        truth = submission.phase.truths.order_by("version").first()
        assert truth is not None
        lifecycle.record(submission, truth=truth, report=REPORT, cpu_seconds=0.0)
    return "ended"


def cancel(submission: Submission, user: User) -> str:
    with suppress(Refused):  # The import may already have removed the submission.
        lifecycle.cancel(submission=submission, by=user)
    return "cancelled"


if __name__ == "__main__":
    main()
