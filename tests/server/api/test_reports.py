"""Tests reports in the API."""

from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api


def test_a_report_has_metrics_and_withholds_classes(api: Api, make: Make, scored: Scored) -> None:
    phase, user = make.phase(), make.user()
    submission = scored(phase, 0.5, team=make.team(phase.challenge, user))
    report = api.get(f"submissions/{submission.pk}/report", user=user).json()
    assert report["splits"]["public"]["metrics"] == {"mAP": 0.5}
    assert report["splits"]["public"]["classes"] is None
    assert report["withheld"]


def test_the_report_of_a_queued_submission_is_not_found(api: Api, make: Make) -> None:
    phase, user = make.phase(), make.user()
    submission = make.submission(phase, make.team(phase.challenge, user))
    answer = api.get(f"submissions/{submission.pk}/report", user=user)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
