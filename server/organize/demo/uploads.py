"""The demo's files, handed in round by round as teams would, each once."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from django.core.files.base import ContentFile

from server.accounts.models import User
from server.challenges.models import Challenge, Phase, Team
from server.organize.demo import folders, people
from server.organize.demo.story import ORGANIZER, STORIES, Entrant, Story
from server.organize.services.importing import import_bundle
from server.submissions.models import Submission, SubmissionQuerySet
from server.submissions.services import intake


def open_challenges(say: Callable[[str], None]) -> list[Challenge]:
    """Make the demo's challenges out of their bundles; what is there already stays."""
    organizer = people.accounts()[ORGANIZER]
    challenges = []
    for story in STORIES:
        folders.make(story)
        challenges.append(import_bundle(path=folders.bundle_folder(story), by=organizer))
        say(f"{challenges[-1].title}: {folders.bundle_folder(story)}")
    return challenges


def hand_in() -> None:
    """Let every team send its files to every challenge, those that were not sent yet."""
    accounts = people.accounts()
    for story in STORIES:
        phase = Phase.objects.get(challenge__slug=story.slug)
        teams = {entrant.team: people.team(entrant, phase.challenge, accounts) for entrant in story.entrants}
        for place, entrant, path, note in rounds(story):
            sender = accounts[entrant.members[place % len(entrant.members)]]
            submit_once(path, phase=phase, team=teams[entrant.team], user=sender, note=note)


def rounds(story: Story) -> Iterator[tuple[int, Entrant, Path, str]]:
    """Yield the files in the order they are sent: everybody's first, everybody's second …"""
    for entrant in story.entrants:
        if entrant.sends_a_broken_file:
            yield 0, entrant, folders.broken_file(story), "Made with mistakes, to show how they are told"
    for place in range(max(len(entrant.qualities) for entrant in story.entrants)):
        for entrant in story.entrants:
            for quality in entrant.qualities[place : place + 1]:
                yield place, entrant, folders.submission_file(story, quality), f"podium synthesize --quality {quality}"


def submit_once(path: Path, *, phase: Phase, team: Team, user: User, note: str) -> None:
    content = path.read_bytes()
    if not phase.submissions.filter(team=team, sha256=sha256(content).hexdigest()).exists():
        intake.submit(user=user, team=team, phase=phase, file=ContentFile(content, path.name), note=note)


def submissions() -> SubmissionQuerySet:
    """Return every submission to the demo's challenges."""
    return Submission.objects.filter(phase__challenge__slug__in=[story.slug for story in STORIES])
