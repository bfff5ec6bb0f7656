"""Organizers replace a ground truth through the API: they upload a new version, preview its effects and apply it."""

from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from server.challenges.models import Phase, Truth
from server.challenges.shaping import signature_of
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.submissions.models import Evaluation, Rerun, Submission
from server.submissions.services import leases, reruns
from tests.conftest import Make
from tests.server.conftest import Scored, evaluate, refresh_boards
from tests.server.documented import Api

PATH = "challenges/detection/phases/main"
TRUTH = {
    "boxes.csv": "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,/m/cat,0.1,0.5,0.1,0.5,0\n",
    "image_labels.csv": "ImageID,LabelName,Confidence\na,/m/cat,1\n",
}


pytestmark = [pytest.mark.phase(challenge={"slug": "detection"}, slug="main"), pytest.mark.usefixtures("inline_queue")]


@pytest.fixture
def boss(make: Make, phase: Phase) -> dict[str, Any]:
    phase.challenge.organizers.add(boss := make.user(username="boss"))
    return {"user": boss, "scope": "organize"}


def zipped(files: dict[str, str], *, top: str = "") -> bytes:
    with ZipFile(content := BytesIO(), "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{top}{name}", text)
    return content.getvalue()


@pytest.mark.parametrize("top", ["", "truth/"])
def test_a_new_truth_is_checked_but_not_active(api: Api, phase: Phase, boss: dict[str, Any], top: str) -> None:
    answer = api.upload(f"{PATH}/truths", file=zipped(TRUTH, top=top), name="truth.zip", **boss)
    assert (answer.status_code, answer.json()["version"], answer.json()["active"]) == (201, 2, False)
    kept = phase.truths.get(version=2)
    assert Path(kept.prepared.path).read_bytes()[:6] == b"PODIUM"
    assert phase.truth.version == 1


def test_adding_the_same_truth_again_gives_the_same_version(api: Api, phase: Phase, boss: dict[str, Any]) -> None:
    answers = [api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss).json() for _ in range(2)]
    assert (answers[0], Truth.objects.count()) == (answers[1], 2)


@pytest.mark.parametrize(
    ("files", "code", "line"),
    [
        ({**TRUTH, "boxes.csv": TRUTH["boxes.csv"].replace("0.5,0\n", "much,0\n")}, "truth_bad_value", 2),
        ({"boxes.csv": TRUTH["boxes.csv"]}, "truth_missing_file", None),
    ],
)
def test_a_truth_with_faults_is_refused_with_their_lines(
    api: Api, phase: Phase, boss: dict[str, Any], files: dict[str, str], code: str, line: int | None
) -> None:
    answer = api.upload(f"{PATH}/truths", file=zipped(files), **boss)
    (fault,) = answer.json()["faults"]
    assert (answer.status_code, fault["code"], fault["line"]) == (422, code, line)
    assert Truth.objects.count() == 1


def test_a_file_that_is_not_a_zip_is_refused(api: Api, phase: Phase, boss: dict[str, Any]) -> None:
    answer = api.upload(f"{PATH}/truths", file=b"boxes", **boss)
    assert (answer.status_code, answer.json()["faults"][0]["code"]) == (422, "bad_zip")


def test_a_truth_without_usage_is_refused_if_the_active_one_has_private_images(
    api: Api, phase: Phase, boss: dict[str, Any], scored: Scored
) -> None:
    scored(phase, 0.5, private=0.4)
    answer = api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    assert (answer.status_code, "Add a usage.csv" in answer.json()["detail"]) == (422, True)
    split = {
        "image_labels.csv": f"{TRUTH['image_labels.csv']}b,/m/cat,1\n",
        "usage.csv": "ImageID,Usage\na,Private\nb,Public\n",
    }
    assert api.upload(f"{PATH}/truths", file=zipped({**TRUTH, **split}), **boss).json()["version"] == 2


def test_organizing_requires_the_scope_organize(api: Api, phase: Phase, boss: dict[str, Any]) -> None:
    answer = api.post(f"{PATH}/rescore", {}, user=boss["user"], scope="submit")
    assert (answer.status_code, "organize" in answer.json()["detail"]) == (403, True)


def test_a_rescoring_is_previewed_and_then_applied(
    api: Api, phase: Phase, boss: dict[str, Any], scored: Scored
) -> None:
    for score in (0.6, 0.5):
        scored(phase, score)
    api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    begun = api.post(f"{PATH}/rescore", {"preview": True}, **boss).json()
    assert (begun["left"], begun["applied_at"], begun["truth"]["version"]) == (2, None, 2)
    assert api.post(f"{PATH}/rescore/apply", {}, **boss).json()["code"] == "rescoring_unfinished"
    newer = phase.truths.get(version=2)
    for submission, value in zip(Submission.objects.order_by("received_at"), (0.3, 0.4), strict=True):
        evaluate(submission, {"public": {"mAP": value}}, truth=newer, signature=begun["signature"])
    seen = api.get(f"{PATH}/rescore", **boss).json()
    assert [(line["rank_before"], line["rank_after"]) for line in seen["changes"]["public"]] == [(2, 1), (1, 2)]
    applied = api.post(f"{PATH}/rescore/apply", {}, **boss).json()
    assert (applied["truth"]["active"], applied["left"], applied["changes"]["public"]) == (True, 0, [])
    rows = api.get(f"{PATH}/leaderboard").json()
    assert (rows["signature"], [row["score"] for row in rows["results"]]) == (begun["signature"], [0.4, 0.3])


def test_a_missing_reason_can_be_added_once_after_a_rescoring_was_applied(
    api: Api, phase: Phase, boss: dict[str, Any]
) -> None:
    api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    api.post(f"{PATH}/rescore", {"preview": True}, **boss)
    reasons = ("", "Two classes were swapped.", "Something else")
    answers = [api.post(f"{PATH}/rescore/apply", {"reason": reason}, **boss) for reason in reasons]
    assert [answer.status_code for answer in answers] == [200, 200, 409]
    assert Rescoring.objects.get().reason == "Two classes were swapped."


def test_without_an_open_rescoring_nothing_is_applied(api: Api, phase: Phase, boss: dict[str, Any]) -> None:
    assert api.post(f"{PATH}/rescore/apply", {}, **boss).status_code == 404
    api.post(f"{PATH}/rescore", {"preview": False}, **boss)
    answer = api.post(f"{PATH}/rescore/apply", {}, **boss)
    assert (answer.status_code, answer.json()["code"]) == (409, "change_refused")
    assert "No rescoring is in progress" in answer.json()["detail"]


def test_unscorable_submissions_are_listed(api: Api, phase: Phase, boss: dict[str, Any], scored: Scored) -> None:
    submission = scored(phase, 0.6)
    api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    api.post(f"{PATH}/rescore", {}, **boss)
    claimed = leases.claim(Rerun, submission.reruns.get().pk)
    assert claimed is not None
    reruns.fail(claimed, sentence="It does not fit.", final=True)
    (lost,) = api.get(f"{PATH}/rescore", **boss).json()["unscorable"]
    assert (lost["submission"], lost["reason"]) == (str(submission.pk), "It does not fit.")
    assert api.post(f"{PATH}/rescore/apply", {}, **boss).json()["code"] == "rescoring_loses"
    assert api.post(f"{PATH}/rescore/apply", {"without_unscorable": True}, **boss).status_code == 200


def test_a_rescoring_without_preview_is_applied_at_once(api: Api, phase: Phase, boss: dict[str, Any]) -> None:
    api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    assert api.post(f"{PATH}/rescore", {"preview": False}, **boss).json()["truth"]["active"]


def test_an_earlier_version_can_be_applied_again(api: Api, phase: Phase, boss: dict[str, Any], scored: Scored) -> None:
    for score in (0.6, 0.5):
        scored(phase, score)
    first = phase.truth
    signature = signature_of(phase, first.sha256)
    phase.signature = signature
    phase.save()
    Evaluation.objects.update(signature=signature)
    refresh_boards()
    at_first = api.get(f"{PATH}/leaderboard").json()["results"]
    api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    begun = api.post(f"{PATH}/rescore", {"truth": 2}, **boss).json()
    for submission in Submission.objects.all():
        evaluate(submission, {"public": {"mAP": 0.1}}, truth=phase.truths.get(version=2), signature=begun["signature"])
    applied = api.post(f"{PATH}/rescore/apply", {}, **boss).json()
    assert (applied["truth"]["version"], applied["active_truth"]["version"]) == (2, 2)
    assert api.get(f"{PATH}/leaderboard").json()["results"] != at_first
    back = api.post(f"{PATH}/rescore", {"truth": 1, "preview": False}, **boss).json()
    assert (back["truth"]["version"], back["active_truth"]["version"], back["signature"]) == (1, 1, signature)
    assert api.get(f"{PATH}/leaderboard").json()["results"] == at_first


def test_the_list_of_versions_marks_the_active_one(api: Api, phase: Phase, boss: dict[str, Any]) -> None:
    api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    listed = api.get(f"{PATH}/truths", **boss).json()
    assert [(one["version"], one["active"]) for one in listed["results"]] == [(2, False), (1, True)]


def test_a_rescoring_can_be_discarded(api: Api, phase: Phase, boss: dict[str, Any], scored: Scored) -> None:
    scored(phase, 0.6)
    api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    api.post(f"{PATH}/rescore", {"truth": 2}, **boss)
    answer = api.post(f"{PATH}/rescore/discard", {}, **boss)
    assert (answer.status_code, answer.json()["active_truth"]["version"]) == (200, 1)
    assert api.get(f"{PATH}/rescore", **boss).status_code == 404
    assert api.post(f"{PATH}/rescore/discard", {}, **boss).json()["code"] == "not_found"


@pytest.mark.parametrize(("truth", "status"), [(9, 404), ("1", 422), (0, 422), (True, 422)])
def test_an_invalid_version_is_refused(api: Api, phase: Phase, boss: dict[str, Any], truth: Any, status: int) -> None:
    assert api.post(f"{PATH}/rescore", {"truth": truth}, **boss).status_code == status


USAGE = {
    "image_labels.csv": f"{TRUTH['image_labels.csv']}b,/m/cat,1\nc,/m/cat,1\n",
    "usage.csv": "ImageID,Usage\na,Public\nb,Private\nc,Private\n",
}


def test_private_images_become_public_only_with_reveal(api: Api, phase: Phase, boss: dict[str, Any]) -> None:
    api.upload(f"{PATH}/truths", file=zipped({**TRUTH, **USAGE}), **boss)
    Truth.objects.filter(phase=phase).update(active=False)
    Truth.objects.filter(phase=phase, version=2).update(active=True)
    usage = USAGE["usage.csv"].replace("b,Private", "b,Public")
    moved = zipped({**TRUTH, **USAGE, "usage.csv": usage})
    answer = api.upload(f"{PATH}/truths", file=moved, **boss)
    assert (answer.status_code, "1 private image would become public" in answer.json()["detail"]) == (422, True)
    assert api.upload(f"{PATH}/truths", file=moved, reveal="true", **boss).json()["version"] == 3


@pytest.mark.parametrize(("path", "sent"), [("rescore", {"truth": 2}), ("rescore/apply", {})])
def test_a_rescoring_that_another_request_discards_is_not_found(
    api: Api, phase: Phase, boss: dict[str, Any], monkeypatch: pytest.MonkeyPatch, path: str, sent: dict[str, Any]
) -> None:
    api.upload(f"{PATH}/truths", file=zipped(TRUTH), **boss)
    api.post(f"{PATH}/rescore", {"truth": 2}, **boss)
    name = "apply" if path.endswith("apply") else "start"
    act = getattr(rescoring, name)

    def act_and_discard(**about: Any) -> Rescoring:
        done: Rescoring = act(**about)
        Rescoring.objects.all().delete()
        return done

    monkeypatch.setattr(rescoring, name, act_and_discard)
    answer = api.post(f"{PATH}/{path}", sent, **boss)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_discarded_rescoring_queues_no_reruns(phase: Phase, scored: Scored) -> None:
    scored(phase, 0.5)
    begun = rescoring.start(phase=phase, by=None)
    Rescoring.objects.all().delete()
    Rerun.objects.all().delete()
    for ask in (rescoring.catch_up, lambda gone: rescoring.apply(rescoring=gone, by=None)):
        with pytest.raises(Refused, match="was discarded or replaced"):
            ask(begun)
    assert not Rerun.objects.exists()


def test_a_rescoring_of_another_version_is_not_applied(api: Api, phase: Phase, boss: dict[str, Any]) -> None:
    api.post(f"{PATH}/rescore", {"truth": 1}, **boss)
    answer = api.post(f"{PATH}/rescore/apply", {"truth": 2}, **boss)
    assert (answer.status_code, answer.json()["code"]) == (409, "change_refused")
    assert not Rescoring.objects.exclude(applied_at=None).exists()
    assert api.post(f"{PATH}/rescore/apply", {"truth": 1}, **boss).status_code == 200
