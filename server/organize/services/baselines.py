"""Creates baselines: teams without members, whose files are submitted and scored like those of any team."""

from collections.abc import Iterator

from django.core.files import File

from evaluator.bundle import Baseline, Bundle, BundlePhase
from evaluator.bundle.mistakes import Mistakes
from server.challenges.models import Challenge, Phase, Team
from server.errors import Refused
from server.organize.services.preparing import sha256_of
from server.submissions.models import Status, Submission
from server.submissions.services import intake

ADDED = "baseline.submitted"  # the action that the audit log records when an organizer adds a baseline with a form
INCOMPLETE = (
    "The challenge was imported, but this baseline and those after it are missing. Import the same bundle again to "
    "submit them."
)


def write_teams(challenge: Challenge, bundle: Bundle, mistakes: Mistakes) -> list[str]:
    """Create or rename the teams of baselines. A name that already belongs to a team of participants is an error.

    If a baseline in the bundle has a new name but a file that an existing baseline has submitted, the existing baseline
    is renamed. If the bundle still uses its old name in another phase, a baseline is added instead and takes over its
    submissions to this phase. If the baseline in the bundle has an existing name but a new file, the file is submitted
    for the existing baseline. If both are new, a baseline is added, and earlier baselines remain on the leaderboard.
    """
    teams = {team.name.casefold(): team for team in challenge.teams.all()}
    phases = {phase.slug: phase for phase in challenge.phases.all()}
    everywhere = {name for declared in bundle.phases for name in names_of(declared)}
    changes = []
    for declared in bundle.phases:
        phase = phases[declared.slug]
        for baseline in declared.baselines:
            key = baseline.name.casefold()
            former = former_team(baseline, phase=phase, names=names_of(declared))
            if key not in teams and former is not None and former.name.casefold() not in everywhere:
                teams[key] = teams.pop(former.name.casefold())
            team = teams.get(key)
            if team is None:
                team = teams[key] = Team.objects.create(challenge=challenge, name=baseline.name, is_baseline=True)
                changes.append(f"baseline {baseline.name}: added")
            elif not team.is_baseline:
                message = f"{baseline.name}: a team has this name; choose another name"
                mistakes.add("baseline_name_taken", message, line=baseline.line)
            elif team.name != baseline.name:
                changes.append(f"baseline {team.name}: renamed to {baseline.name}")
                team.name = baseline.name
                team.save(update_fields=["name", "search_name"])
            if former is not None and former != team and team.is_baseline:
                phase.submissions.filter(team=former).update(team=team)
                changes.append(f"phase {declared.slug}: baseline {former.name} is now {baseline.name}")
    return changes


def names_of(declared: BundlePhase) -> set[str]:
    return {baseline.name.casefold() for baseline in declared.baselines}


def former_team(baseline: Baseline, *, phase: Phase, names: set[str]) -> Team | None:
    """Return the baseline team that has already submitted this baseline's file to the phase under a different name.

    Teams whose names are in `names` are ignored.
    """
    same = phase.submissions.filter(team__is_baseline=True, sha256=sha256_of(baseline.file)).select_related("team")
    return next((one.team for one in same.order_by("received_at") if one.team.name.casefold() not in names), None)


def left_over(challenge: Challenge, bundle: Bundle) -> Iterator[str]:
    """Yield a message for each baseline that is only in the bundle or only on a leaderboard.

    Either the baseline remains on the leaderboard although the bundle does not contain it, or the bundle contains it
    although organizers have removed it from the leaderboards.
    """
    for declared in bundle.phases:
        entries = challenge.teams.filter(is_baseline=True, submissions__phase__slug=declared.slug).distinct()
        for team in entries:
            is_declared = team.name.casefold() in names_of(declared)
            if team.disqualified_at is not None:
                if is_declared:
                    yield f"phase {declared.slug}: baseline {team.name} stays removed from the leaderboards"
            elif not is_declared:
                yield (
                    f"phase {declared.slug}: baseline {team.name} remains on the leaderboard, although it is missing "
                    "from the bundle"
                )


def submit_all(challenge: Challenge, bundle: Bundle) -> Iterator[str]:
    """Submit the new baselines, and yield a message for each of them. Raises Refused if one cannot be submitted."""
    teams = {team.name.casefold(): team for team in challenge.teams.filter(is_baseline=True)}
    phases = {phase.slug: phase for phase in challenge.phases.all()}
    for declared in bundle.phases:
        for baseline in declared.baselines:
            name = f"phase {declared.slug}: baseline {baseline.name}"
            try:
                is_new = submit(baseline, team=teams[baseline.name.casefold()], phase=phases[declared.slug])
            except Refused as error:
                raise Refused(error.code, f"{name} was not submitted: {error.detail}\n{INCOMPLETE}") from error
            if is_new:
                yield f"{name} submitted"


def submit(baseline: Baseline, *, team: Team, phase: Phase) -> bool:
    """Submit a baseline's file. Return False if the baseline has already submitted this file; see `has_file`."""
    if has_file(phase, team, sha256=sha256_of(baseline.file)):
        return False
    with baseline.file.open("rb") as file:
        submit_file(File(file, baseline.file.name), team=team, phase=phase)
    return True


def has_file(phase: Phase, team: Team, *, sha256: str) -> bool:
    """Return whether a baseline has submitted a file to a phase. Failed and cancelled submissions do not count."""
    earlier = phase.submissions.filter(team=team, sha256=sha256)
    return earlier.exclude(status__in=(Status.FAILED, Status.CANCELLED)).exists()


def submit_file(file: "File[bytes]", *, team: Team, phase: Phase) -> Submission:
    """Submit a file for a baseline, without using quota and without the checks that apply to participants."""
    return intake.submit(user=None, team=team, phase=phase, file=file, note="Baseline", force=True, charge=False)
