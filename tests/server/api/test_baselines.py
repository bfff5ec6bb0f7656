"""Organizers list, add, remove and put back the baselines of a phase through the API."""

from typing import Any

import pytest

from server.audit.models import Entry
from server.challenges.models import Phase, Team
from server.submissions.models import QuotaEntry, Submission
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Answer, Api, part

PATH = "challenges/c/phases/main/baselines"
FILE = b"ImageId,PredictionString\na,\n"

pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, slug="main"),
    pytest.mark.usefixtures("phase", "inline_queue"),
]


@pytest.fixture
def editor(make: Make, phase: Phase) -> dict[str, Any]:
    phase.challenge.organizers.add(user := make.user(username="ed"), through_defaults={"role": "editor"})
    return {"user": user, "scope": "organize"}


def add(api: Api, caller: dict[str, Any], name: str, content: bytes = FILE) -> Answer:
    parts = [part(b'name="name"', name.encode()), part(b'name="file"; filename="own.csv"', content)]
    multipart = "multipart/form-data; boundary=boundary"
    return api.ask("POST", PATH, data=b"".join([*parts, b"--boundary--\r\n"]), content_type=multipart, **caller)


def refused(answer: Answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_file_is_submitted_for_a_new_baseline_without_quota(api: Api, editor: dict[str, Any]) -> None:
    answer = add(api, editor, " Center   boxes ")
    found, team = answer.json(), Team.objects.get()
    assert (answer.status_code, found["team_id"], found["name"]) == (201, team.pk, "Center boxes")
    assert (found["removed_at"], found["submission"]["id"]) == (None, str(Submission.objects.get().pk))
    assert (team.is_baseline, QuotaEntry.objects.exists()) == (True, False)
    entries = Entry.objects.filter(subject=f"team {team.pk}").order_by("number")
    assert [(one.action, one.actor) for one in entries] == [("team.added", "ed"), ("baseline.submitted", "ed")]


def test_the_list_has_the_latest_submission_of_each_baseline_with_its_score(
    api: Api, editor: dict[str, Any], phase: Phase, make: Make, scored: Scored
) -> None:
    owls, bats = (make.team(phase.challenge, name=name, is_baseline=True) for name in ("owls", "Bats"))
    scored(phase, 0.2, team=owls)
    latest = scored(phase, 0.5, private=0.4, team=owls)
    scored(phase, 0.3, team=bats)
    scored(phase, 0.9)
    rows = api.get(PATH, **editor).json()["results"]
    assert [row["name"] for row in rows] == ["Bats", "owls"]
    assert rows[1]["submission"]["id"] == str(latest.pk)
    assert rows[1]["submission"]["scores"]["private"]["mAP"] == 0.4


def test_a_baseline_is_removed_and_put_back_once(api: Api, editor: dict[str, Any]) -> None:
    team = add(api, editor, "Center").json()["team_id"]
    for act, is_removed in (("remove", True), ("put-back", False)):
        answer = api.post(f"{PATH}/{team}/{act}", {}, **editor)
        assert (answer.status_code, answer.json()["removed_at"] is not None) == (200, is_removed)
        assert api.get(PATH, **editor).json()["results"] == [answer.json()]
        assert (Team.objects.get().disqualified_at is not None) == is_removed
        assert refused(api.post(f"{PATH}/{team}/{act}", {}, **editor)) == (422, "invalid")
    entries = Entry.objects.filter(action__in=("baseline.removed", "baseline.put_back")).order_by("number")
    assert [(one.action, one.actor) for one in entries] == [("baseline.removed", "ed"), ("baseline.put_back", "ed")]


def test_a_removed_baseline_a_known_file_and_an_empty_file_are_refused(api: Api, editor: dict[str, Any]) -> None:
    team = add(api, editor, "Center").json()["team_id"]
    assert refused(add(api, editor, "Center")) == (422, "invalid")
    assert refused(add(api, editor, "Other", b"")) == (422, "invalid")
    api.post(f"{PATH}/{team}/remove", {}, **editor)
    assert refused(add(api, editor, "CENTER", FILE + b"b,\n")) == (422, "invalid")
    assert Submission.objects.count() == 1


def test_a_team_of_participants_and_a_baseline_of_another_challenge_are_not_found(
    api: Api, editor: dict[str, Any], phase: Phase, make: Make, scored: Scored
) -> None:
    participants, foreign = make.team(phase.challenge), make.team(make.challenge(), is_baseline=True)
    scored(phase, 0.5, team=participants)
    for team in (participants, foreign):
        assert refused(api.post(f"{PATH}/{team.pk}/remove", {}, **editor)) == (404, "not_found")
    assert not Team.objects.filter(disqualified_at__isnull=False).exists()


def test_a_file_that_is_larger_than_a_form_without_files_is_accepted(api: Api, editor: dict[str, Any]) -> None:
    assert add(api, editor, "Center", FILE + b"b,\n" * 2**20).status_code == 201
