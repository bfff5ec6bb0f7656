"""A bundle for every track can be imported, scored and shown, although the server has no code for particular tracks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from evaluator.bundle import InvalidBundle
from evaluator.catalog import TRACKS, Column, Form, Metric, Modules, Track, TruthFile
from evaluator.cli import main
from evaluator.comparison import compare
from evaluator.request import ScoringRequest, TruthOptions
from evaluator.scoring import score
from evaluator.synthesis import synthesize
from evaluator.tracks.shared.one_answer import OneAnswerScorer
from server.challenges.models import Phase
from server.organize.services.importing import import_bundle
from server.pages.report.tabs import tab_address, tab_names
from server.submissions.models import Rerun, Submission
from server.submissions.services import intake
from tests.conftest import InlineQueue, Make
from tests.evaluator.options import with_intervals
from tests.server.documented import Api
from tests.server.page import Page

SHEET = """\
slug: {slug}
title: A challenge
phases:
  - slug: main
    track: {track}
    split: {{public: 0.5, seed: 4}}
    feedback: {{classes: true}}
    baselines: [{{name: Starter, file: "baselines/{starter}"}}]
"""
COLUMNS = (Column("ImageID", "image", "its id"), Column("Colour", "label", "a word"))
COLOURS = Track(
    name="colours",
    title="Colours",
    summary="What colour each picture is.",
    truth=(TruthFile("colours.csv", ("ImageID", "Colour"), "one row an image"),),
    form=Form("table", COLUMNS, example="img1,blue", one_each=True),
    metrics=(Metric("accuracy", "Accuracy", "fraction of images that are right"),),
    headline_explained="The fraction of images whose colour is right.",
    modules=Modules(__name__),
)
POOLED = ("weighted_ap_relationships", "weighted_ap_phrases")
Case = tuple[Track, Path]
Send = Callable[..., Submission]
Visit = Callable[[str], Page]
SCORER = OneAnswerScorer(COLOURS, lambda truth, answers, _: {"accuracy": truth["Colour"] == answers["Colour"]})


@pytest.fixture(autouse=True)
def a_new_track(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a new track that is defined in ten lines of this file and needs no other code."""
    monkeypatch.setitem(TRACKS, COLOURS.name, COLOURS)


@pytest.fixture(params=[*TRACKS, COLOURS.name])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    """Return a track, and a folder with its bundle, a baseline, a poor submission and a good submission."""
    track, folder = TRACKS[request.param], tmp_path / "made"
    synthesize(track.name, folder, images=24, qualities=(0.4, 0.9))
    starter = folder / "submissions" / f"quality-0.40.{track.form.suffix}"
    home = folder / "phases" / "main"
    (home / "baselines").mkdir(parents=True)
    (folder / "truth").rename(home / "truth")
    (home / "truth" / "salt.txt").write_text("5a" * 16)  # With a fixed salt, the same images are public in every run.
    (home / "baselines" / starter.name).write_bytes(starter.read_bytes())
    (folder / "challenge.yaml").write_text(SHEET.format(slug=track.name, track=track.name, starter=starter.name))
    return track, folder


@pytest.fixture
def imported(made: Case, make: Make, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Phase:
    with django_capture_on_commit_callbacks(execute=True):
        import_bundle(path=made[1], by=None)
    return Phase.objects.get()


@pytest.fixture
def send(imported: Phase, make: Make, inline_queue: InlineQueue) -> Send:
    """Return a function that submits and scores a file for the team of the user ada."""
    team = make.team(imported.challenge, user := make.user(username="ada"), name="Ada")

    def send(content: bytes, *, force: bool = False) -> Submission:
        file = ContentFile(content, f"mine.{imported.declared_track.form.suffix}")
        sent = intake.submit(user=user, team=team, phase=imported, file=file, force=force)
        inline_queue.work()
        return Submission.objects.get(pk=sent.pk)

    return send


@pytest.fixture
def visit(imported: Phase, send: object) -> Visit:
    client = Client()
    client.force_login(imported.challenge.teams.get(name="Ada").memberships.get().user)
    return lambda address: Page(client.get(address))


def good(made: Case) -> bytes:
    return (made[1] / "submissions" / f"quality-0.90.{made[0].form.suffix}").read_bytes()


def test_a_submission_gets_a_rank_and_the_scores_of_the_evaluator(
    made: Case, imported: Phase, send: Send, api: Api, tmp_path: Path
) -> None:
    sent = send(good(made))
    assert (sent.status, sent.failure) == ("scored", "")
    (tmp_path / "mine").write_bytes(good(made))
    truth, halves = made[1] / "phases/main/truth", TruthOptions(split=(0.5, 4))
    expected = score(ScoringRequest(made[0].name, truth, tmp_path / "mine", opening=halves))
    answer = api.get(f"/api/v1/submissions/{sent.pk}", user=sent.user).json()
    assert answer["scores"]["public"] == expected.splits["public"].metrics
    assert answer["signature"] == expected.signature
    board = api.get(f"/api/v1/challenges/{made[0].name}/phases/main/leaderboard").json()
    assert [(line["team"], line["rank"]) for line in board["results"]] == [("Ada", 1), ("Starter", None)]
    assert board["results"][0]["score"] == expected.splits["public"].metrics[made[0].headline]


def test_intervals_are_computed_if_a_track_has_any(made: Case, send: Send, api: Api, inline_queue: InlineQueue) -> None:
    sent, wanted = send(good(made)), made[0].intervals
    assert (sent.stage, Rerun.objects.filter(submission=sent).exists()) == ("bootstrapping" if wanted else "", wanted)
    inline_queue.work_later()
    answer = api.get(f"/api/v1/submissions/{sent.pk}", user=sent.user).json()
    assert answer["stage"] is None
    assert set(answer["intervals"].get("public", {})) == (set(answer["scores"]["public"]) if wanted else set())


def test_a_report_has_its_classes_and_further_tables(made: Case, send: Send, api: Api) -> None:
    """The report has the results per class and the tables of the track as soon as the submission is scored."""
    sent = send(good(made))
    split = api.get(f"/api/v1/submissions/{sent.pk}/report", user=sent.user).json()["splits"]["public"]
    assert [set(row) for row in split["classes"]][:1] == [
        {"label", "name", *(column.name for column in made[0].class_columns)} for _ in made[0].class_columns[:1]
    ]
    assert set(split["tables"]) == {table.name for table in made[0].tables}


VERDICTS = {"a_better": "A is better", "tied": "No significant difference", "b_better": "B is better"}
# Maps each track to the tables and curves that explain a score.
EXPLAINED = {
    "openimages-detection": ({"errors", "error_sums", "averages", "slices", "class_errors", "ablation"}, {"ap"}),
    "openimages-relationships": ({"errors", "error_sums", "averages"}, {"ap_relationships", "ap_phrases", *POOLED}),
    "openimages-segmentation": ({"errors", "error_sums", "averages", "slices", "class_errors"}, {"ap"}),
    "openimages-classification": ({"class_errors"}, {"ap"}),
    "flickr30k-grounding": (set(), set()),
    "flickr30k-retrieval": (set(), set()),
    "objectnet": ({"controls", "spreads", "class_errors", "confusion"}, set()),
    COLOURS.name: (set(), set()),
}


@pytest.fixture
def explained(made: Case, send: Send, inline_queue: InlineQueue) -> Submission:
    """Return a submission for which the worker has computed the score, its intervals and its explanation."""
    sent: Submission = send(good(made))
    inline_queue.work_later()
    inline_queue.work_later()
    assert not Rerun.objects.filter(submission=sent).exists()
    return sent


def test_a_report_has_the_explanation_of_its_track(made: Case, explained: Submission, api: Api) -> None:
    report = api.get(f"/api/v1/submissions/{explained.pk}/report", user=explained.user).json()
    public = report["splits"]["public"]
    tables, curves = EXPLAINED[made[0].name]
    assert (set(public["tables"]), {curve["curve"] for curve in public["curves"]}) == (tables, curves)
    assert report["explanation"] == ("ready" if made[0].explained_tables or made[0].curves else "none")
    metrics, headline = public["metrics"], {"ap": "mAP", "ap_relationships": "mAP_relationships"}
    for curve in (one for one in public["curves"] if one["label"] is None and one["curve"] in headline):
        assert curve["area"] == pytest.approx(metrics[headline[curve["curve"]]])


def test_the_page_shows_the_explanation(made: Case, explained: Submission, visit: Visit) -> None:
    pages = [visit(tab.address) for tab in visit(f"/submissions/{explained.pk}/").context["report"].tabs]
    words, links = " ".join(page.words for page in pages), {link for page in pages for link in page.links()}
    tables, curves = EXPLAINED[(track := made[0]).name]
    for table in (*track.explained_tables, *track.tables):
        assert (table.title in words) is (table.name in tables), table.title
    assert any(page.all("path", class_="curve") for page in pages) is bool(curves)
    for heading in (*track.class_columns, *track.explained_columns):
        assert heading.title in words, heading
    for name in ("report.json", "classes.csv", "curves.csv"):
        offered = f"/submissions/{explained.pk}/{name}" in links
        assert offered is (name != "curves.csv" or bool(curves)) or not track.class_columns, name
        assert visit(f"/submissions/{explained.pk}/{name}").status == (200 if offered else 404) or name == "report.json"


def test_leaderboards_have_the_columns_of_the_track_and_the_largest_score_first(
    made: Case, explained: Submission, visit: Visit, api: Api
) -> None:
    words = visit(f"/challenges/{made[0].name}/leaderboard").words
    assert made[0].metrics[0].title in words
    assert " ".join([*(metric.brief for metric in made[0].board_metrics), "Submissions"]) in words
    board = api.get(f"/api/v1/challenges/{made[0].name}/phases/main/leaderboard").json()["results"]
    assert [set(line["scores"]) for line in board] == [{metric.name for metric in made[0].metrics}] * 2
    assert board[0]["score"] > board[1]["score"]


def test_the_page_compares_two_submissions_like_podium_compare(
    made: Case, explained: Submission, send: Send, visit: Visit, inline_queue: InlineQueue, settings: Settings
) -> None:
    track, truth = made[0], made[1] / "phases/main/truth"
    worse = send((other := made[1] / "submissions" / f"quality-0.40.{track.form.suffix}").read_bytes())
    inline_queue.work_later()
    page = visit(f"/challenges/{track.name}/compare?a={worse.pk}&b={explained.pk}")
    assert ("B is better on" in page.words) is bool(track.class_columns)
    assert bool(page.all("svg", class_="interval")) is track.intervals
    if not track.intervals:
        assert "Not available yet" in page.words
        return
    (made[1] / "mine").write_bytes(good(made))
    drawn = with_intervals(settings.INTERVAL_REPLICATES)
    requests = [
        ScoringRequest(track.name, truth, file, opening=TruthOptions(split=(0.5, 4)), report=drawn)
        for file in (other, made[1] / "mine")
    ]
    reports = [score(request) for request in requests]
    expected = compare(*reports, next((column.name for column in track.class_columns), ""))["public"]
    found = expected.metrics[track.headline]
    assert VERDICTS[found.verdict] in page.words
    assert f"worse on {expected.lost}" in page.words


def test_every_page_shows_the_track(made: Case, visit: Visit, send: Send) -> None:
    sent, track = send(good(made)), made[0]
    for place in ("", "data", "rules", "submit", "submissions", "leaderboard"):
        assert visit(f"/challenges/{track.name}/{place}").status == 200, place
    assert track.title in visit("/").words
    assert track.metrics[0].title in visit(f"/challenges/{track.name}/leaderboard").words
    pages = [visit(tab_address(sent.pk, name)) for name in tab_names(track, withheld=False)]
    assert {page.status for page in pages} == {200}
    for heading in (*track.class_columns, *(column for each in track.tables for column in each.columns)):
        assert any(heading.title in page.words for page in pages), heading
    assert track.form.suffix.upper() in visit(f"/challenges/{track.name}/submit").words


def test_the_data_page_shows_the_file_format(made: Case, visit: Visit) -> None:
    page = visit(f"/challenges/{made[0].name}/data")
    assert made[0].form.sentence in page.words
    assert f"predictions.{made[0].form.suffix}" in page.words
    assert ("Parameters of this phase" in page.words) is bool(made[0].parameters)
    for shape in made[0].form.shapes:
        assert " ".join(shape.example.split()) in page.words
        assert all(column.meaning in page.words for column in shape.columns)


def test_the_worked_example_has_the_right_format(made: Case, tmp_path: Path) -> None:
    for shape in made[0].form.shapes:
        (tmp_path / "example").write_text(shape.example)
        assert main(["check", made[0].name, "--submission", str(tmp_path / "example")]) == 0


def test_the_sample_file_is_scored_if_it_can_score_or_is_forced(made: Case, imported: Phase, send: Send) -> None:
    sent = send(content := Path(imported.sample_submission.path).read_bytes())
    if made[0] is not COLOURS and made[0].empty != "base rate":
        assert (sent.status, sent.problems["counts"]) == ("rejected", {"nothing_to_score": 1})
        sent = send(content, force=True)
    assert sent.status == "scored"


def test_a_broken_file_is_rejected_and_its_page_explains_what_to_do(made: Case, send: Send, visit: Visit) -> None:
    sent = send(good(made)[:100] + b"\0")
    assert sent.status == "rejected"
    page = visit(f"/submissions/{sent.pk}/")
    assert all(code in page.words for code in sent.problems["counts"])


def test_a_missing_truth_file_is_a_mistake_of_the_bundle(made: Case, make: Make) -> None:
    required = next(file for file in made[0].truth if file.required)
    (made[1] / "phases/main/truth" / required.name).unlink()
    with pytest.raises(InvalidBundle) as caught:
        import_bundle(path=made[1], by=None)
    assert [(problem.code, problem.file) for problem in caught.value.problems] == [
        ("truth_missing_file", f"phases/main/truth/{required.name}")
    ]
