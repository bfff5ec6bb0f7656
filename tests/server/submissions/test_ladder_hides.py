"""A score that ladder feedback hides does not influence any response to participants or visitors."""

import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from server.challenges.models import Phase
from server.submissions.models import Replicates, Score, Submission
from server.submissions.services import ladder
from server.submissions.signals import announce
from tests.conftest import Make
from tests.server.documented import Api, content_of

NOW = datetime.now(UTC)
# This pattern matches everything that differs between the responses to identical requests: tokens, ids of requests and
# elements, and times.
VARYING = re.compile(
    rb'csrfmiddlewaretoken" value="\w+"|X-CSRFToken[^}]*|\b[0-9a-f]{12}\b|\be[0-9a-f]{8}\b'
    rb'|"at":"[^"]*"|<time.*?</time>|<span class="countdown">.*?</span>|\d+ s(econds)? ago|just now'
)
VALIDATORS = {"ETag", "Last-Modified"}


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, feedback="ladder", closes_at=NOW + timedelta(days=1))


@pytest.fixture
def entries(phase: Phase, make: Make, replicated: Callable[..., Submission]) -> list[Submission]:
    """Create one submission from a rival team and two from the team Owls. The score of the last one is hidden."""
    rival, team = make.team(phase.challenge, name="Rivals"), make.team(phase.challenge, name="Owls")
    found = [
        replicated(phase, [0.6, 0.66, 0.72], team=rival),
        replicated(phase, [0.52, 0.6, 0.68], team=team),
        replicated(phase, [0.4, 0.61, 0.85], team=team),
    ]
    for one in found:
        ladder.publish(one.evaluations.get())
        announce(phase, [one.team_id])
    return found


def rescored(hidden: Submission, values: list[float]) -> None:
    """Change the score, confidence interval and bootstrap replicates of a submission whose score is hidden."""
    evaluation = hidden.evaluations.get()
    Score.objects.filter(evaluation=evaluation).update(value=sum(values) / 3, low=min(values), high=max(values))
    Replicates.objects.filter(evaluation=evaluation).update(values=struct.pack("<3d", *values))
    announce(hidden.phase, [hidden.team_id])


def served(client: Client, api: Api, user: Any, entries: list[Submission]) -> dict[str, tuple[bytes, dict[str, str]]]:
    best, hidden = entries[1:]
    addresses = [
        "/",
        *(f"/challenges/c/{page}" for page in ("", "submissions", "leaderboard", "leaderboard.csv", "compare")),
        "/challenges/c/leaderboard/compare",
    ]
    addresses += [f"/challenges/c/compare?a={best.pk}&b={hidden.pk}"]
    addresses += [
        f"/submissions/{hidden.pk}/{part}" for part in ("", "panel", "report.json", "classes.csv", "curves.csv")
    ]
    of_phase = f"/api/v1/challenges/c/phases/{hidden.phase.slug}"
    asked = [f"{of_phase}/{name}" for name in ("leaderboard", "leaderboard?format=csv", "submissions", "quota")]
    asked += [f"/api/v1/submissions/{hidden.pk}{part}" for part in ("", "/report")]
    if user is not None:
        client.force_login(user)
    answers = {address: client.get(address) for address in addresses}
    answers |= {address: api.get(address, user=user) for address in asked}
    return {
        address: (
            VARYING.sub(b"", content_of(answer)),
            {name: answer.headers[name] for name in set(answer.headers) & VALIDATORS},
        )
        for address, answer in answers.items()
    }


@pytest.mark.parametrize("who", ["author", "rival", "nobody"])
def test_responses_do_not_depend_on_a_hidden_score(
    who: str, entries: list[Submission], client: Client, api: Api
) -> None:
    rival, best, hidden = entries
    user = {"author": best.user, "rival": rival.user, "nobody": None}[who]
    before = served(client, api, user, entries)
    rescored(hidden, [0.1, 0.2, 0.3])
    after = served(client, api, user, entries)
    assert [address for address in before if before[address] != after[address]] == []


def test_organizers_see_the_difference(entries: list[Submission], make: Make, client: Client, api: Api) -> None:
    """Organizers see the changed score, so the previous test has compared pages on which a score has really changed."""
    organizer = make.user(is_staff=True)
    before = served(client, api, organizer, entries)
    rescored(entries[2], [0.1, 0.2, 0.3])
    after = served(client, api, organizer, entries)
    changed = [address for address in before if before[address] != after[address]]
    assert f"/api/v1/submissions/{entries[2].pk}" in changed
    assert "/challenges/c/leaderboard" in changed
