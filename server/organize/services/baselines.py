"""Baselines: teams without members, whose files are submitted and scored like all others."""

from collections.abc import Iterator
from hashlib import file_digest

from django.core.files import File

from server.challenges.models import Challenge, Phase, Team
from server.errors import Refused
from server.organize.services.bundles import Baseline, Bundle
from server.organize.services.bundles.mistakes import Mistakes
from server.submissions.models import Status
from server.submissions.services import intake


def write_teams(challenge: Challenge, bundle: Bundle, mistakes: Mistakes) -> list[str]:
    """Create the teams of baselines. A baseline with the name of another team is a mistake in the bundle."""
    teams = {team.name.casefold(): team for team in challenge.teams.all()}
    created = []
    for baseline in (baseline for phase in bundle.phases for baseline in phase.baselines):
        team = teams.get(baseline.name.casefold())
        if team is None:
            teams[baseline.name.casefold()] = Team.objects.create(
                challenge=challenge, name=baseline.name, is_baseline=True
            )
            created.append(f"baseline {baseline.name}: added")
        elif not team.is_baseline:
            mistakes.add(
                "baseline_name_taken", f"{baseline.name}: a team has this name; choose another", line=baseline.line
            )
    return created


def submit_all(challenge: Challenge, bundle: Bundle) -> Iterator[str]:
    """Submit baselines that are not submitted yet and yield a message for each. Raises Refused at the first refusal."""
    teams = {team.name.casefold(): team for team in challenge.teams.filter(is_baseline=True)}
    phases = {phase.slug: phase for phase in challenge.phases.all()}
    for declared in bundle.phases:
        for baseline in declared.baselines:
            name = f"phase {declared.slug}: baseline {baseline.name}"
            try:
                is_new = submit(baseline, team=teams[baseline.name.casefold()], phase=phases[declared.slug])
            except Refused as error:
                raise Refused(error.code, f"{name} was not submitted: {error.detail}") from error
            if is_new:
                yield f"{name} submitted"


def submit(baseline: Baseline, *, team: Team, phase: Phase) -> bool:
    """Submit one file. Return False if the same file is queued or was scored already."""
    with baseline.file.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
        earlier = phase.submissions.filter(team=team, sha256=digest)
        if earlier.exclude(status__in=(Status.FAILED, Status.CANCELLED)).exists():
            return False
        intake.submit(
            user=None, team=team, phase=phase, file=File(file, baseline.file.name), note="Baseline", charge=False
        )
    return True
