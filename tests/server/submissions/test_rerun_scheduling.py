"""Reruns, the jobs that score submissions again, are claimed in an order that depends on their purpose and team."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from server.challenges.models import Phase
from server.submissions.models import Rerun, Submission
from server.submissions.services import leases, lifecycle, scheduling
from tests.conftest import Make

NOW = datetime.now(UTC)


def test_a_rerun_is_not_claimed_during_its_pause(make: Make, phase: Phase, waiting: Callable[..., Rerun]) -> None:
    rerun = waiting(make.team(phase.challenge))
    Rerun.objects.update(not_before=datetime.now(UTC) + timedelta(minutes=1))
    assert scheduling.claim_next(Rerun, large=True) is None
    Rerun.objects.update(not_before=datetime.now(UTC) - timedelta(seconds=1))
    assert scheduling.claim_next(Rerun, large=True) == rerun
    assert Rerun.objects.get().not_before is None


def test_a_large_rerun_waits_while_its_team_is_scored(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]], waiting: Callable[..., Rerun]
) -> None:
    team = make.team(phase.challenge)
    later = waiting(team)
    queued(team)
    running = scheduling.claim_next(Submission, large=True)
    assert scheduling.claim_next(Rerun, large=True) is None
    lifecycle.reject(running, findings={})
    assert scheduling.claim_next(Rerun, large=True) == later


def test_large_reruns_leave_room_for_the_teams_next_file(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]], waiting: Callable[..., Rerun]
) -> None:
    team = make.team(phase.challenge)
    for _ in range(2):
        waiting(team)
    assert scheduling.claim_next(Rerun, large=True) is not None
    assert scheduling.claim_next(Rerun, large=True) is None
    queued(team)
    assert scheduling.claim_next(Submission, large=True) is not None


def test_reruns_count_towards_the_two_running_jobs_of_a_team(
    make: Make, phase: Phase, queued: Callable[..., list[Submission]], waiting: Callable[..., Rerun]
) -> None:
    team = make.team(phase.challenge)
    for _ in range(3):
        waiting(team, small=True)
    assert [scheduling.claim_next(Rerun, large=True) is not None for _ in range(3)] == [True, True, False]
    queued(team)
    assert scheduling.claim_next(Submission, large=True) is None
    assert leases.claim(Rerun, Rerun.objects.queued().get().pk) is None


def test_the_small_file_process_takes_no_large_rerun(make: Make, phase: Phase, waiting: Callable[..., Rerun]) -> None:
    waiting(make.team(phase.challenge))
    assert scheduling.claim_next(Rerun, large=False) is None


def test_the_process_for_small_files_takes_no_rerun_of_a_busy_team(
    make: Make, phase: Phase, waiting: Callable[..., Rerun]
) -> None:
    team = make.team(phase.challenge)
    waiting(team, small=True)
    second = waiting(team, small=True)
    assert scheduling.claim_next(Rerun, large=True) is not None
    assert scheduling.claim_next(Rerun, large=False) is None
    assert leases.claim(Rerun, second.pk, large=False) is None


def test_a_small_rerun_that_exceeds_its_time_is_requeued_as_large(
    make: Make, phase: Phase, waiting: Callable[..., Rerun]
) -> None:
    later = waiting(make.team(phase.challenge), small=True)
    leases.release_as_large(scheduling.claim_next(Rerun, large=False))
    assert (Rerun.objects.get().attempts, Submission.objects.get().small) == (0, False)
    assert scheduling.claim_next(Rerun, large=False) is None
    assert scheduling.claim_next(Rerun, large=True) == later


def test_intervals_of_one_team_do_not_wait_for_explanations_of_others(
    make: Make, phase: Phase, waiting: Callable[..., Rerun]
) -> None:
    for _ in range(3):
        waiting(make.team(phase.challenge), purpose=Rerun.Purpose.EXPLANATION)
    interval = waiting(make.team(phase.challenge))
    assert scheduling.claim_next(Rerun, large=True) == interval


def rerun_in_turn(count: int) -> list[str]:
    """Claim and finish the given number of reruns, one by one. Return the names of their teams in order of claiming."""
    names = []
    for _ in range(count):
        claimed = scheduling.claim_next(Rerun, large=True)
        names.append(claimed.submission.team.name if claimed else "")
        Rerun.objects.running().delete()
    return names


def test_a_team_with_many_reruns_does_not_delay_the_only_rerun_of_another_team(
    make: Make, phase: Phase, waiting: Callable[..., Rerun]
) -> None:
    many, one, late = (make.team(phase.challenge, name=name) for name in ("many", "one", "late"))
    for team in (many, many, many, one, late, late):
        waiting(team)
    assert rerun_in_turn(6) == ["many", "one", "late", "many", "late", "many"]


def test_a_small_rerun_runs_before_earlier_large_ones(make: Make, phase: Phase, waiting: Callable[..., Rerun]) -> None:
    for name in ("large", "small"):
        waiting(make.team(phase.challenge, name=name), small=name == "small")
    assert rerun_in_turn(2) == ["small", "large"]


def test_intervals_of_shown_scores_come_before_rescorings_and_these_before_explanations(
    make: Make, phase: Phase, waiting: Callable[..., Rerun]
) -> None:
    explanation = waiting(make.team(phase.challenge), purpose=Rerun.Purpose.EXPLANATION)
    rescoring = waiting(make.team(phase.challenge))
    make.truth(phase)
    interval = waiting(make.team(phase.challenge))
    Rerun.objects.filter(pk__in=[explanation.pk, interval.pk]).update(truth=phase.truth)
    assert [scheduling.claim_next(Rerun, large=True) for _ in range(3)] == [interval, rescoring, explanation]


def test_the_oldest_rescoring_or_explanation_comes_first_if_it_is_owed_a_turn(
    make: Make, phase: Phase, waiting: Callable[..., Rerun]
) -> None:
    interval = waiting(make.team(phase.challenge))
    explanations = [waiting(make.team(phase.challenge), purpose=Rerun.Purpose.EXPLANATION) for _ in range(2)]
    claimed = [scheduling.claim_next(Rerun, large=True, late=True) for _ in range(3)]
    assert claimed == [*explanations, interval]
