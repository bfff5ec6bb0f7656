"""Submits the demo's files in rounds, as if the teams took turns. Each file is submitted once."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from django.core.files.base import ContentFile

from evaluator.bundle import InvalidBundle
from server.accounts.models import User
from server.challenges.models import Challenge, Phase, Team
from server.organize.demo import folders, people
from server.organize.demo.story import ORGANIZER, STORIES, Entrant, Story
from server.organize.services.importing import import_bundle
from server.submissions.models import Submission, SubmissionQuerySet
from server.submissions.services import intake


def open_challenges(report: Callable[[str], None]) -> list[Challenge]:
    """Import the demo's bundles. Existing challenges are not changed, so edits to them are kept."""
    organizer = people.accounts()[ORGANIZER]
    challenges = []
    for story in STORIES:
        report(f"{story.slug}: preparing the files and the ground truth")
        folders.make(story)
        challenges.append(opened(story, organizer, report))
    return challenges


def opened(story: Story, organizer: User, report: Callable[[str], None]) -> Challenge:
    try:
        return import_bundle(path=folders.bundle_folder(story), by=organizer)
    except InvalidBundle as error:
        if {problem.code for problem in error.problems} != {"would_undo_edit"}:
            raise
        report(f"{story.slug}: left unchanged, because it was edited on the site")
        return Challenge.objects.get(slug=story.slug)


def submit_all() -> None:
    """Submit all files of the demo's teams that have not been submitted yet."""
    accounts = people.accounts()
    for story in STORIES:
        phase = Phase.objects.get(challenge__slug=story.slug, slug="main")
        teams = {entrant.team: people.team(entrant, phase.challenge, accounts) for entrant in story.entrants}
        for number, entrant, path, note in rounds(story):
            user = accounts[entrant.members[number % len(entrant.members)]]
            submit_once(path, phase=phase, team=teams[entrant.team], user=user, note=note)


def rounds(story: Story) -> Iterator[tuple[int, Entrant, Path, str]]:
    """Yield a tuple (round, team, path, note) for each file of the demo's teams, in the order of submission.

    Files with errors come first, then every team's first file, then every team's second file, and so on.
    """
    for entrant in story.entrants:
        if entrant.submits_broken_file:
            yield 0, entrant, folders.broken_file(story), "Contains errors on purpose, to show how defects are reported"
    for number in range(max(len(entrant.qualities) for entrant in story.entrants)):
        for entrant in story.entrants:
            for quality in entrant.qualities[number : number + 1]:
                yield number, entrant, folders.submission_file(story, quality), f"podium synthesize --quality {quality}"


def submit_once(path: Path, *, phase: Phase, team: Team, user: User, note: str) -> None:
    content = path.read_bytes()
    if not phase.submissions.filter(team=team, sha256=sha256(content).hexdigest()).exists():
        intake.submit(user=user, team=team, phase=phase, file=ContentFile(content, path.name), note=note)


def submissions() -> SubmissionQuerySet:
    """Return all submissions to the demo's challenges."""
    return Submission.objects.filter(phase__challenge__slug__in=[story.slug for story in STORIES])
