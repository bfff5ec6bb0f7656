"""A bundle of every track, imported, scored and shown: nothing of the server knows one track from another."""

import io
import subprocess
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.base import ContentFile
from django.test import Client

from evaluator.catalog import TRACKS, Column, Form, Metric, Track, TruthFile
from evaluator.cli import main
from evaluator.scoring import score
from evaluator.synthesis import synthesize
from evaluator.tracks.answers import contest
from server.challenges.models import Phase
from server.organize.services import checking, preparing
from server.organize.services.bundles import InvalidBundle
from server.organize.services.importing import import_bundle
from server.submissions.models import Rerun, Submission
from server.submissions.services import intake
from tests.server.documented import Api
from tests.server.page import Page

SHEET = """\
slug: {slug}
title: A contest
phases:
  - slug: main
    track: {track}
    split: {{public: 0.5, seed: 4}}
    feedback: {{classes: true}}
    baselines: [{{name: Starter, file: "baselines/{starter}"}}]
"""
COLOURS = Track(
    name="colours",
    title="Colours",
    summary="What colour each picture is.",
    truth=(TruthFile("colours.csv", ("ImageID", "Colour"), "one row an image"),),
    form=Form(
        "table",
        columns=(Column("ImageID", "image", "its id"), Column("Colour", "label", "a word")),
        example="img1,blue",
        one_each=True,
    ),
    metrics=(Metric("accuracy", "Accuracy", "share of images that are right"),),
    headline_explained="The share of images whose colour is right.",
    implementation=__name__,
)
CONTEST = contest(COLOURS, lambda truth, answers, _: {"accuracy": truth["Colour"] == answers["Colour"]})


@pytest.fixture(autouse=True)
def a_new_track(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten lines in this file, and nothing else anywhere."""
    monkeypatch.setitem(TRACKS, COLOURS.name, COLOURS)


@pytest.fixture(autouse=True)
def podium_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same program in this process: a child would not know the new track."""

    def run(*words: str, expected: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
        told = io.StringIO()
        with redirect_stdout(told):
            code = main(words)
        assert code in expected, told.getvalue()
        return subprocess.CompletedProcess(words, code, told.getvalue())

    for module in (preparing, checking):
        monkeypatch.setattr(module, "run_podium", run)


@pytest.fixture(params=[*TRACKS, COLOURS.name])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Track, Path]:
    """A bundle of a track, with a baseline, and a better submission beside it."""
    track, folder = TRACKS[request.param], tmp_path / "made"
    synthesize(track.name, folder, images=24, qualities=(0.4, 0.9))
    starter = folder / "submissions" / f"quality-0.40.{track.form.suffix}"
    home = folder / "phases" / "main"
    (home / "baselines").mkdir(parents=True)
    (folder / "truth").rename(home / "truth")
    (home / "baselines" / starter.name).write_bytes(starter.read_bytes())
    (folder / "challenge.yaml").write_text(SHEET.format(slug=track.name, track=track.name, starter=starter.name))
    return track, folder


@pytest.fixture
def imported(made: tuple[Track, Path], make: Any, django_capture_on_commit_callbacks: Any) -> Phase:
    with django_capture_on_commit_callbacks(execute=True):
        import_bundle(path=made[1], by=None)
    return Phase.objects.get()


@pytest.fixture
def send(imported: Phase, make: Any, inline_queue: Any) -> Callable[[bytes], Submission]:
    """Send a file for a team of one, and play the worker."""
    user = make.user(username="ada")
    team = make.team(imported.challenge, user, name="Ada")

    def send(content: bytes) -> Submission:
        file = ContentFile(content, f"mine.{imported.declared_track.form.suffix}")
        sent = intake.submit(user=user, team=team, phase=imported, file=file)
        inline_queue.work()
        return Submission.objects.get(pk=sent.pk)

    return send


@pytest.fixture
def visit(imported: Phase, send: object) -> Callable[[str], Page]:
    client = Client()
    client.force_login(imported.challenge.teams.get(name="Ada").memberships.get().user)
    return lambda address: Page(client.get(address))


def good(made: tuple[Track, Path]) -> bytes:
    return (made[1] / "submissions" / f"quality-0.90.{made[0].form.suffix}").read_bytes()


def test_a_submission_gets_the_scores_of_the_evaluator_and_a_place(
    made: tuple[Track, Path], imported: Phase, send: Any, api: Api, tmp_path: Path
) -> None:
    sent = send(good(made))
    assert (sent.status, sent.failure) == ("scored", "")
    (tmp_path / "mine").write_bytes(good(made))
    expected = score(made[0].name, made[1] / "phases/main/truth", tmp_path / "mine", split=(0.5, 4))
    answer = api.get(f"/api/v1/submissions/{sent.pk}", user=sent.user).json()
    assert answer["scores"]["public"] == expected.splits["public"].metrics
    assert answer["signature"] == expected.signature
    board = api.get(f"/api/v1/challenges/{made[0].name}/phases/main/leaderboard").json()
    assert [(line["team"], line["rank"]) for line in board["results"]] == [("Ada", 1), ("Starter", None)]
    assert board["results"][0]["score"] == expected.splits["public"].metrics[made[0].headline]


def test_intervals_follow_where_the_track_has_them(
    made: tuple[Track, Path], send: Any, api: Api, inline_queue: Any
) -> None:
    sent, wanted = send(good(made)), made[0].intervals
    assert (sent.stage, Rerun.objects.filter(submission=sent).exists()) == ("bootstrapping" if wanted else "", wanted)
    inline_queue.work_later()
    answer = api.get(f"/api/v1/submissions/{sent.pk}", user=sent.user).json()
    assert answer["stage"] is None
    assert set(answer["intervals"].get("public", {})) == (set(answer["scores"]["public"]) if wanted else set())


def test_a_report_has_its_classes_and_further_tables(made: tuple[Track, Path], send: Any, api: Api) -> None:
    sent = send(good(made))
    split = api.get(f"/api/v1/submissions/{sent.pk}/report", user=sent.user).json()["splits"]["public"]
    assert [set(row) for row in split["classes"]][:1] == [
        {"label", "name", *(column.name for column in made[0].class_columns)} for _ in made[0].class_columns[:1]
    ]
    assert set(split["tables"]) == {table.name for table in made[0].tables}


def test_every_page_shows_it(made: tuple[Track, Path], visit: Any, send: Any) -> None:
    sent, track = send(good(made)), made[0]
    for place in ("", "data", "rules", "submit", "submissions", "leaderboard"):
        assert visit(f"/challenges/{track.name}/{place}").status == 200, place
    assert track.title in visit("/").words
    assert track.metrics[0].title in visit(f"/challenges/{track.name}/leaderboard").words
    page = visit(f"/submissions/{sent.pk}/")
    assert page.status == 200
    for heading in (*track.class_columns, *(column for each in track.tables for column in each.columns)):
        assert heading.title in page.words, heading
    assert track.form.suffix.upper() in visit(f"/challenges/{track.name}/submit").words


def test_the_data_page_shows_what_to_send(made: tuple[Track, Path], visit: Any) -> None:
    page = visit(f"/challenges/{made[0].name}/data")
    assert made[0].form.sentence in page.words
    assert f"predictions.{made[0].form.suffix}" in page.words
    assert ("Parameters of this phase" in page.words) is bool(made[0].parameters)
    for shape in made[0].form.shapes:
        assert " ".join(shape.example.split()) in page.words
        assert all(column.meaning in page.words for column in shape.columns)


def test_the_worked_example_has_the_right_form(made: tuple[Track, Path], tmp_path: Path) -> None:
    for shape in made[0].form.shapes:
        (tmp_path / "example").write_text(shape.example)
        assert main(["check", made[0].name, "--submission", str(tmp_path / "example")]) == 0


def test_the_sample_file_is_scored(made: tuple[Track, Path], imported: Phase, send: Any) -> None:
    assert imported.sample_submission.name.endswith(made[0].form.suffix)
    with imported.sample_submission.open("rb") as sample:
        assert send(sample.read()).status == "scored"


def test_a_broken_file_is_rejected_and_its_page_says_what_to_do(
    made: tuple[Track, Path], send: Any, visit: Any
) -> None:
    sent = send(good(made)[:100] + b"\0")
    assert sent.status == "rejected"
    page = visit(f"/submissions/{sent.pk}/")
    assert all(code in page.words for code in sent.problems["counts"])


def test_a_missing_truth_file_is_a_mistake_of_the_bundle(made: tuple[Track, Path], make: Any) -> None:
    required = next(file for file in made[0].truth if file.required)
    (made[1] / "phases/main/truth" / required.name).unlink()
    with pytest.raises(InvalidBundle) as caught:
        import_bundle(path=made[1], by=None)
    assert [(problem.code, problem.file) for problem in caught.value.problems] == [
        ("truth_missing_file", f"phases/main/truth/{required.name}")
    ]


def test_a_truth_of_folders_is_kept_whole(tmp_path: Path, make: Any) -> None:
    files = {
        "challenge.yaml": "slug: raw\ntitle: Raw\nphases:\n  - {slug: main, track: flickr30k-grounding}\n",
        "phases/main/truth/split.txt": "7\n",
        "phases/main/truth/Sentences/7.txt": "[/EN#1/people A man] waits .\n",
        "phases/main/truth/Annotations/7.xml": "<annotation><object><name>1</name><bndbox><xmin>1</xmin><ymin>1</ymin>"
        "<xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    import_bundle(path=tmp_path, by=None)
    truth = Phase.objects.get().truth
    assert truth is not None
    with ZipFile(truth.source.path) as source:
        assert source.namelist() == ["Annotations/7.xml", "Sentences/7.txt", "split.txt"]
