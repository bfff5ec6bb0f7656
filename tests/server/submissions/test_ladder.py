"""With ladder feedback, a public score is shown before the phase ends only if it clearly exceeds the team's best."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from server.accounts.models import User
from server.challenges import feedback_leakage
from server.challenges.models import Phase, Team
from server.leaderboards.queries import board
from server.leaderboards.services.verification import verify
from server.leaderboards.standings import standing
from server.submissions.feedback import intervals_in, score_access, scores_in
from server.submissions.models import Submission
from server.submissions.reports import visible_report
from server.submissions.services import hiding, ladder
from server.submissions.signals import announce
from tests.conftest import Make
from tests.server.documented import Api, content_of
from tests.server.page import Page

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=2)
FIRST, HIGHER, NO_CLEARER = (
    [0.4, 0.5, 0.6],
    [0.52, 0.6, 0.68],
    [0.4, 0.61, 0.85],
    # Bootstrap replicates of three submissions. A submission's score is the mean of its replicates: 0.5, 0.6 or 0.62.
)
Send = Callable[..., Submission]


pytestmark = pytest.mark.phase(feedback="ladder", closes_at=NOW + timedelta(days=1))


def decide(submission: Submission) -> None:
    ladder.publish(submission.evaluations.get())
    announce(submission.phase, [submission.team_id])


@pytest.fixture
def send(phase: Phase, team: Team, replicated: Callable[..., Submission]) -> Send:
    """Return a function that creates a submission with the given bootstrap replicates and applies ladder feedback."""

    def send(values: list[float], **fields: Any) -> Submission:
        submission: Submission = replicated(phase, values, **{"team": team, **fields})
        decide(submission)
        return submission

    return send


@pytest.fixture
def viewer(team: Team) -> User:
    return team.memberships.get().user


def shown(submission: Submission, viewer: Any, now: datetime = NOW) -> float | None:
    fresh = Submission.objects.get(pk=submission.pk)
    return scores_in(fresh, score_access(fresh.phase, viewer=viewer, now=now)).get("public", {}).get("mAP")


def test_the_first_score_of_a_team_is_shown(send: Send, viewer: User) -> None:
    assert shown(send(FIRST), viewer) == 0.5


def test_a_clear_improvement_is_shown(send: Send, viewer: User) -> None:
    send(FIRST)
    assert shown(send(HIGHER), viewer) == pytest.approx(0.6)


def test_an_improvement_within_the_standard_error_shows_the_previous_best_score(send: Send, viewer: User) -> None:
    send(FIRST)
    best, unclear = send(HIGHER), send(NO_CLEARER)
    assert shown(unclear, viewer) == shown(best, viewer) == pytest.approx(0.6)
    seen = score_access(unclear.phase, viewer=viewer, now=NOW)
    assert intervals_in(unclear, seen) == intervals_in(best, seen)


def test_a_difference_due_to_rounding_is_no_improvement() -> None:
    """Without a standard error, any larger difference is an improvement."""
    best = 0.3
    assert [ladder.beats(score, best, [score] * 3, [best] * 3) for score in (0.1 + 0.2, 0.3001)] == [False, True]


def test_a_worse_submission_shows_the_best_score_again(send: Send, viewer: User) -> None:
    send(HIGHER)
    assert shown(send(FIRST), viewer) == pytest.approx(0.6)


def test_each_team_is_compared_only_with_itself(send: Send, phase: Phase, make: Make) -> None:
    send(HIGHER)
    other = make.team(phase.challenge)
    assert shown(send(FIRST, team=other), other.memberships.get().user) == 0.5


def test_a_baseline_is_shown_with_its_exact_score(send: Send, phase: Phase, make: Make, viewer: User) -> None:
    nobody = make.team(phase.challenge, is_baseline=True)
    send(HIGHER, team=nobody)
    assert shown(send(FIRST, team=nobody), viewer) == 0.5


def test_a_published_score_does_not_change_later(send: Send, viewer: User) -> None:
    send(FIRST)
    unclear = send([0.3, 0.51, 0.72])
    send(HIGHER)
    decide(unclear)
    assert shown(unclear, viewer) == 0.5


def test_a_file_that_shows_the_score_of_a_file_that_organizers_hide_is_decided_again(
    send: Send, phase: Phase, viewer: User, make: Make
) -> None:
    best, second = send(NO_CLEARER), send(HIGHER)
    assert shown(second, viewer) == pytest.approx(0.62)
    operator = make.user(is_staff=True)
    hiding.hide(submission=best, by=operator)
    assert shown(second, viewer) == pytest.approx(0.6)
    assert [row.score for row in board(phase, split="public", viewer=viewer).rows] == [pytest.approx(0.6)]
    assert standing(Submission.objects.get(pk=second.pk), now=NOW).rank == 1
    hiding.unhide(submission=best, by=operator)
    assert [row.score for row in board(phase, split="public", viewer=viewer).rows] == [pytest.approx(0.62)]
    assert not list(verify(phase))


def test_organizers_see_every_score_at_once(send: Send, phase: Phase, make: Make) -> None:
    organizer = make.user()
    phase.challenge.organizers.add(organizer)
    send(HIGHER)
    assert shown(send(FIRST), organizer) == 0.5


def test_when_the_phase_is_over_everybody_sees_every_score(send: Send, viewer: User) -> None:
    send(HIGHER)
    assert shown(send(FIRST), viewer, LATER) == 0.5


def test_a_score_is_not_shown_until_it_is_compared(
    phase: Phase, team: Team, viewer: User, send: Send, replicated: Callable[..., Submission], api: Api, client: Client
) -> None:
    send(FIRST)
    waiting = replicated(phase, [0.9, 0.9123, 0.93], team=team, stage="bootstrapping")
    assert standing(waiting, now=NOW).why_not.startswith("It is being compared")
    report = visible_report(waiting, access=score_access(phase, viewer=viewer, now=NOW))
    assert report is not None
    assert report["splits"] == {}
    answer = api.get(f"submissions/{waiting.pk}", user=viewer).json()
    assert (answer["scores"], answer["intervals"], answer["scores_of"]) == ({}, {}, None)
    client.force_login(viewer)
    own = f"/challenges/{phase.challenge.slug}/submissions"
    assert "not shown" in Page(client.get(own)).words
    for address in (f"/submissions/{waiting.pk}/", own, own.replace("submissions", "leaderboard")):
        assert b"0.91" not in client.get(address).content


def test_a_hidden_score_is_on_no_page_or_leaderboard_and_in_no_file(
    phase: Phase, viewer: User, send: Send, api: Api, client: Client
) -> None:
    best, unclear = send(HIGHER), send([0.4, 0.61437, 0.85])
    client.force_login(viewer)
    slug, of_phase = phase.challenge.slug, f"challenges/{phase.challenge.slug}/phases/{phase.slug}"
    pages = ("", "submissions", "leaderboard", "leaderboard.csv")
    shown = [content_of(client.get(f"/challenges/{slug}/{name}")) for name in pages]
    shown += [client.get(f"/submissions/{unclear.pk}/{part}").content for part in ("", "panel")]
    asked = ("leaderboard", "leaderboard?format=csv", "submissions")
    shown += [content_of(api.get(f"{of_phase}/{name}", user=viewer)) for name in asked]
    shown += [api.get(f"submissions/{unclear.pk}{part}", user=viewer).content for part in ("", "/report")]
    assert not [text for text in shown if b"0.62" in text or b"0.621" in text]
    assert len([text for text in shown if b"0.6" in text]) == len(shown)
    assert "your team's best is shown instead" in Page(client.get(f"/submissions/{unclear.pk}/")).words
    assert api.get(f"submissions/{unclear.pk}", user=viewer).json()["scores_of"] == str(best.pk)


def test_a_leaderboard_ranks_by_shown_scores_and_counts_every_submission(
    phase: Phase, viewer: User, send: Send, make: Make
) -> None:
    best, _ = send(HIGHER), send(NO_CLEARER)
    send([0.6, 0.61, 0.62], team=make.team(phase.challenge, name="Other"))
    rows = board(phase, split="public", viewer=viewer).rows
    assert [(row.team == "Other", row.entries) for row in rows] == [(True, 1), (False, 2)]
    assert rows[1].evaluation_id == best.evaluations.get().pk
    exact = board(phase, split="public", viewer=make.user(is_staff=True)).rows
    assert [row.team == "Other" for row in exact] == [False, True]


@pytest.mark.parametrize(("margin", "is_shown"), [(1, True), (2, False), (1.5, False), (1.2, True)])
def test_the_margin_is_a_parameter_of_the_phase(
    margin: float, is_shown: bool, send: Send, phase: Phase, viewer: User
) -> None:
    """The second score is shown only if it is better than the first by more than the margin.

    It is better by 0.025. The standard error of this difference is about 0.018. The margin is a multiple of this
    standard error, and each test case sets the factor.
    """
    phase.ladder_standard_errors = margin
    send([0.5, 0.5, 0.5])
    assert (shown(send([0.505, 0.53, 0.54]), viewer) == pytest.approx(0.525)) == is_shown


def test_a_new_phase_has_a_margin_of_two_standard_errors(phase: Phase) -> None:
    assert phase.ladder_standard_errors == 2
    assert "more than 2 standard errors of the difference" in feedback_leakage.feedback_text(phase)


@pytest.mark.parametrize("margin", [0, -1, 11])
def test_an_invalid_margin_is_refused(margin: float, phase: Phase) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Phase.objects.update(ladder_standard_errors=margin)


def test_a_hidden_score_is_explained_by_the_required_margin(send: Send, phase: Phase) -> None:
    phase.ladder_standard_errors = 1.5
    send(HIGHER)
    unclear = send(NO_CLEARER)
    assert "by more than 1.5 standard errors of the difference" in standing(unclear, now=NOW).why_not


def test_the_data_page_says_that_the_ladder_needs_controlled_registration(phase: Phase, client: Client) -> None:
    words = Page(client.get(f"/challenges/{phase.challenge.slug}/data")).words
    assert "Every new account sees the exact score of its first file, so registration must be controlled" in words


def test_the_data_page_says_what_is_shown_and_that_the_quota_is_the_limit(phase: Phase, client: Client) -> None:
    words = Page(client.get(f"/challenges/{phase.challenge.slug}/data")).words
    assert "only if it exceeds your team's best" in words
    assert "the quota is the real limit" in words


IMAGES, PROBES = 400, 200  # There are IMAGES public images and as many private ones.


class ShownScores:
    """Simulates the score that a team sees for each file: its own score or, with ladder feedback, the last shown one.

    The ground truth has a random label, 0 or 1, for each image.
    """

    def __init__(self, rng: np.random.Generator, *, by_ladder: bool) -> None:
        self.truth, self.by_ladder = rng.integers(0, 2, 2 * IMAGES), by_ladder
        self.draws = rng.integers(0, IMAGES, (200, IMAGES))
        self.best: tuple[float, list[float]] | None = None

    def of(self, answers: Any) -> float:
        right = (answers == self.truth)[:IMAGES].astype(float)
        own = float(right.mean()), right[self.draws].mean(axis=1).tolist()
        if self.best is None or not self.by_ladder or ladder.beats(own[0], self.best[0], own[1], self.best[1]):
            self.best = own
        return self.best[0]

    def luck(self, answers: Any) -> float:
        """Return the accuracy on public images, which determine shown scores, minus the accuracy on private images."""
        right = answers == self.truth
        return float(right[:IMAGES].mean() - right[IMAGES:].mean())


def climbing(rng: np.random.Generator, shown: ShownScores) -> Any:
    """Run a hill-climbing attack, and return the labels that it finally predicts.

    Each probe changes some labels at random. The attack keeps these changes only if the shown score rises.
    """
    best = rng.integers(0, 2, 2 * IMAGES)
    score = shown.of(best)
    for _ in range(PROBES):
        answers = np.where(rng.random(2 * IMAGES) < 0.02, 1 - best, best)
        if (new := shown.of(answers)) > score:
            best, score = answers, new
    return best


def boosting(rng: np.random.Generator, shown: ShownScores) -> Any:
    """Run a boosting attack, and return the labels that it finally predicts.

    The attack submits random labels many times. For each image, it predicts the most frequent label among the
    submissions with a shown score above 0.5.
    """
    guesses = rng.integers(0, 2, (PROBES, 2 * IMAGES))
    return guesses[[shown.of(guess) > 0.5 for guess in guesses]].mean(axis=0).round()


@pytest.mark.parametrize(("attack", "left"), [(climbing, 0.8), (boosting, 0.3)])
def test_probing_gains_less_under_ladder_feedback(attack: Any, left: float) -> None:
    gains = {}
    for by_ladder in (False, True):
        rngs = [np.random.default_rng(seed) for seed in range(8)]
        all_shown = [ShownScores(rng, by_ladder=by_ladder) for rng in rngs]
        gains[by_ladder] = np.mean([shown.luck(attack(rng, shown)) for rng, shown in zip(rngs, all_shown, strict=True)])
    assert gains[False] > 0.1
    assert gains[True] < left * gains[False]
