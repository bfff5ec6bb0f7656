"""After the results are final, files of scored submissions that never counted for a leaderboard are removed."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.core.files.storage import default_storage
from django.test import Client
from pytest_django import Settings

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.organize.services import old_files, rescoring
from server.submissions.models import Rerun, Submission
from server.submissions.services.recovery import without_interval
from server.submissions.services.sweeping import sweep
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.page import Page

NOW = datetime.now(UTC)
DAY = timedelta(days=1)

pytestmark = pytest.mark.phase(closes_at=NOW - 40 * DAY, finals=2)


@pytest.fixture(autouse=True)
def policy(settings: Settings, db: None) -> Settings:
    settings.SCORED_FILE_DAYS = 30
    cache.delete("scored_files")
    return settings


@pytest.fixture
def four(phase: Phase, team: Team, scored: Scored) -> list[Submission]:
    """Return four submissions of a team, oldest first. Their scores on both splits are 0.2, 0.1, 0.6 and 0.5."""
    values = (0.2, 0.1, 0.6, 0.5)
    return [
        scored(phase, value, team=team, private=value, at=NOW - (50 - day) * DAY) for day, value in enumerate(values)
    ]


def kept(submissions: list[Submission]) -> list[bool]:
    """Return, for each submission, whether its row still has a file. Check that exactly these files are stored."""
    found = []
    for one in submissions:
        name = one.file.name
        one.refresh_from_db()
        assert default_storage.exists(name) == bool(one.file)
        found.append(bool(one.file))
    return found


def test_only_files_that_never_counted_are_removed(four: list[Submission]) -> None:
    sweep()
    # The first and the third submission were the team's best on the public leaderboard when they were scored. The third
    # and the fourth count for the private leaderboard. Only the second has never counted for a leaderboard.
    assert kept(four) == [True, False, True, True]
    assert Submission.objects.filter(status="scored").count() == 4


def test_by_default_every_scored_file_is_kept(four: list[Submission], settings: Settings) -> None:
    settings.SCORED_FILE_DAYS = 0
    sweep()
    assert kept(four) == [True] * 4


@pytest.mark.parametrize("days", [39, 41])
def test_files_are_kept_until_the_results_have_been_final_for_that_long(
    four: list[Submission], days: int, settings: Settings
) -> None:
    settings.SCORED_FILE_DAYS = days
    sweep()
    assert kept(four)[1] == (days > 40)


@pytest.mark.phase(closes_at=NOW - 40 * DAY, finals=2, reveal="manual")
def test_files_of_a_phase_whose_private_scores_are_hidden_are_kept(four: list[Submission]) -> None:
    sweep()
    assert kept(four) == [True] * 4


def final(one: Submission) -> None:
    Submission.objects.filter(pk=one.pk).update(final=True)


def pending(one: Submission) -> None:
    Rerun.objects.create(submission=one, truth=one.phase.truth, enqueued_at=NOW)


def rescored(one: Submission) -> None:
    one.phase.rescorings.create(truth=one.phase.truth, signature="x", started_at=NOW)


def of_a_baseline(one: Submission) -> None:
    Team.objects.filter(pk=one.team_id).update(is_baseline=True)


@pytest.mark.parametrize("change", [final, pending, rescored, of_a_baseline])
def test_a_file_that_may_still_be_needed_is_kept(four: list[Submission], change: Callable[[Submission], None]) -> None:
    change(four[1])
    sweep()
    assert kept(four)[1]


def test_files_are_removed_at_most_once_a_day(four: list[Submission], monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    monkeypatch.setattr(old_files, "remove_expired", lambda: len(runs.append(None) or runs))
    sweep()
    sweep()
    assert len(runs) == 1


def test_a_rescoring_does_not_wait_for_a_removed_file(four: list[Submission], phase: Phase, make: Make) -> None:
    sweep()
    kept(four)
    begun = rescoring.begin(phase=phase, by=None, truth=make.truth(phase))
    assert set(rescoring.without_score(begun)) == {four[0], four[2], four[3]}
    assert four[1] not in without_interval()


def test_pages_and_downloads_say_why_the_file_is_gone(four: list[Submission], client: Client, member: User) -> None:
    sweep()
    assert "does not count" in Page(client.get(f"/submissions/{four[1].pk}/")).words
    assert "does not count" not in Page(client.get(f"/submissions/{four[0].pk}/")).words
    answer = client.get(f"/submissions/{four[1].pk}/file")
    assert (answer.status_code, "does not count" in answer.content.decode()) == (410, True)


def test_the_storage_of_the_team_is_freed(four: list[Submission], team: Team) -> None:
    before = old_files.retention.storage_use(team).used
    sweep()
    assert old_files.retention.storage_use(team).used == before - four[1].size_bytes
