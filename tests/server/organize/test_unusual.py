"""Organizers see identical files from different teams, and scores that rise by many standard errors at once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase
from server.clock import database_now
from server.organize.services.unusual import identical_files, jumps
from server.submissions.models import Submission
from tests.conftest import Make
from tests.server.page import Page

Replicated = Callable[..., Submission]
pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main")]


def test_a_file_that_two_teams_submitted_is_listed_and_a_repeated_one_is_not(phase: Phase, make: Make) -> None:
    one, other, baseline = (make.team(phase.challenge, is_baseline=is_baseline) for is_baseline in (False, False, True))
    for team, content in ((one, b"a"), (other, b"a"), (one, b"b"), (one, b"b"), (one, b"c"), (baseline, b"c")):
        make.submission(phase, team, content=content)
    make.submission(make.phase(), content=b"b")  # A file that is identical to one in another challenge is not listed.
    (found,) = identical_files(phase)
    assert [submission.team for submission in found.submissions] == [one, other]


def test_a_jump_is_an_improvement_by_more_than_four_paired_standard_errors(
    phase: Phase, make: Make, replicated: Replicated
) -> None:
    now = database_now()
    spread = [-0.01, 0.0, 0.01]
    for by, team in ((0.039, make.team(phase.challenge)), (0.041, make.team(phase.challenge))):
        replicated(phase, [0.5, 0.5, 0.5], team=team, received_at=now - timedelta(hours=2))
        last = replicated(phase, [0.5 + by + noise for noise in spread], team=team, received_at=now)
    (found,) = jumps(phase)
    assert found.improvement.submission_id == last.pk
    assert found.standard_errors == pytest.approx(4.1)


def test_a_lower_score_between_two_others_hides_no_previous_best(
    phase: Phase, make: Make, replicated: Replicated
) -> None:
    team, now = make.team(phase.challenge), database_now()
    for hours, values in ((3, [0.6, 0.62]), (2, [0.1, 0.12]), (1, [0.61, 0.65])):
        replicated(phase, values, team=team, received_at=now - timedelta(hours=hours))
    assert jumps(phase) == []


def test_an_improvement_due_to_rounding_is_no_jump(phase: Phase, make: Make, replicated: Replicated) -> None:
    """Without a standard error, any larger improvement is a jump."""
    now = database_now()
    for by, team in ((1e-15, make.team(phase.challenge)), (0.001, make.team(phase.challenge))):
        replicated(phase, [0.5, 0.5], team=team, received_at=now - timedelta(hours=2))
        last = replicated(phase, [0.5 + by, 0.5 + by], team=team, received_at=now)
    assert [found.improvement.submission_id for found in jumps(phase)] == [last.pk]


def test_the_page_lists_both_with_their_teams(
    phase: Phase, make: Make, replicated: Replicated, member: User, client: Client
) -> None:
    phase.challenge.organizers.add(member)
    now = database_now()
    teams = [make.team(phase.challenge, name=name) for name in ("Owls", "Bats")]
    for team in teams:
        make.submission(phase, team, content=b"same", file_name="same.csv")
    replicated(phase, [0.1, 0.2], team=teams[0], received_at=now - timedelta(hours=1))
    replicated(phase, [0.8, 0.9], team=teams[0], received_at=now, file_name="jump.csv")
    words = Page(client.get("/organize/challenges/c/phases/main/unusual")).words
    assert words.count("same.csv") == 2
    assert "jump.csv Owls" in words
