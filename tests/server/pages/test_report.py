"""Tests the report on a submission's page, and the files with its data."""

import csv
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from evaluator.catalog import TRACKS
from evaluator.report_page.content import PARTS, SplitDetail
from evaluator.report_page.page import SplitScores, report_page
from server.challenges.models import Phase, Team
from server.pages.report.tabs import tab_names
from server.submissions.models import Rerun, Submission
from server.submissions.services import reruns
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored, explain
from tests.server.page import Page

NOW = datetime.now(UTC)
CURVES = [
    {"label": None, "name": "mean of all", "curve": "ap", "area": 0.5, "truths": 3.0}
    | {"confidence": None, "recall": [0.5, 1.0], "precision": [0.75, 0.25]},
    {"label": "/m/1", "name": "Cat", "curve": "ap", "area": 0.875, "truths": 1.0}
    | {"confidence": [0.9, 0.1], "recall": [0.5, 1.0], "precision": [0.5, 0.75]},
    {"label": "/m/2", "name": "=Dog", "curve": "ap", "area": None, "truths": 0.0}
    | {"confidence": [], "recall": [], "precision": []},
]
CLASSES = [
    {"label": "/m/1", "name": "Cat", "ap": 0.875, "truths": 1.0, "f1": 0.512345},
    {"label": "/m/2", "name": "=Dog", "ap": None, "truths": 0.0, "f1": None},
]
CONTENT = {
    "classes": CLASSES,
    "tables": {
        "errors": [
            {"kind": "class", "false_positives": 1234, "misses": 1, "delta_mAP": 0.02},
            {"kind": "group_of", "false_positives": 0, "misses": 0, "delta_mAP": -0.01},
        ],
        "class_errors": [{"truth": "/m/1", "prediction": "/m/2", "count": n} for n in range(30, 0, -1)],
        "ablation": [{"non_exhaustive_labels": True, "hierarchy": False, "group_of_weight": 0, "mAP": None}],
    },
    "left_out": {"class_errors": 44},
    "curves": CURVES,
}


pytestmark = pytest.mark.phase(challenge={"slug": "c"}, closes_at=NOW + timedelta(days=1), feedback_classes=True)


@pytest.fixture
def explained(scored: Scored, phase: Phase, team: Team) -> Submission:
    one: Submission = scored(phase, 0.5, team=team)
    explain(one, CONTENT)
    return one


@pytest.fixture
def visit(client: Client) -> Callable[..., Page]:
    return lambda one, query="": Page(client.get(f"/submissions/{one.pk}/{query}"))


def rows(client: Client, one: Submission, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(client.get(f"/submissions/{one.pk}/{name}").content.decode())))


def test_the_mean_curve_has_a_drawing_a_description_and_a_table(
    explained: Submission, visit: Callable[..., Page]
) -> None:
    page = visit(explained, "report/curves")
    drawing = page.all("svg", role="img", class_="chart")[0]
    assert "AP of mean of all, area 0.500" in drawing["aria-label"]
    assert page.all("path", class_="curve")[0]["d"] == "M34 58H184V158H334V208"
    assert page.context["report"].chart.table_rows[5:7] == [(0.5, [0.75]), (0.6, [0.25])]


def test_the_name_of_a_class_links_to_its_curve(explained: Submission, visit: Callable[..., Page]) -> None:
    page = visit(explained, "report/classes")
    link = next(link for link in page.links() if "chosen=%2Fm%2F1" in link)
    # A class without objects has no curve.
    assert not [link for link in page.links() if "chosen=%2Fm%2F2" in link]
    page = visit(explained, link.partition("#")[0].removeprefix(f"/submissions/{explained.pk}/"))
    assert page.context["report"].chart.chosen_class == "Cat"
    # One SVG path with the CSS class "quiet" is in the chart, and one is in the legend.
    assert len(page.all("path", class_="quiet")) == 2
    assert page.all("path", class_="own")[0]["d"] == "M34 58H184V58H334V208"


def test_an_unknown_class_has_no_curve(explained: Submission, visit: Callable[..., Page]) -> None:
    page = visit(explained, "report/curves?chosen=%3Cscript%3E")
    assert not page.all("path", class_="own")
    assert not page.inline


def test_errors_are_explained_and_their_gain_is_drawn(explained: Submission, visit: Callable[..., Page]) -> None:
    page = visit(explained, "report/errors")
    assert "Class overlaps an object of another class 1,234 1 +0.020" in page.words
    assert "Group of overlaps a group-of box of its class, but not enough 0 0 −0.010" in page.words
    assert [bar["width"] for bar in page.all("rect", class_="fill")] == ["100.0%", "0.0%"]


def test_long_tables_are_truncated_with_the_number_of_other_rows(
    explained: Submission, visit: Callable[..., Page]
) -> None:
    page = visit(explained, "report/confusions")
    (table,) = [table for table in page.context["report"].tables if table.name == "class_errors"]
    assert (len(table.rows), table.more, table.left_out) == (12, 18, 44)
    assert "Cat /m/1 =Dog /m/2 19" in page.words
    assert "Cat /m/1 =Dog /m/2 18" not in page.words


def test_booleans_are_shown_as_words_and_undefined_values_as_dashes(
    explained: Submission, visit: Callable[..., Page]
) -> None:
    assert "yes no 0 –" in visit(explained, "report/settings").words


def test_results_of_a_class_have_three_decimals_and_all_digits_on_hover(
    explained: Submission, visit: Callable[..., Page]
) -> None:
    page = visit(explained, "report/classes")
    assert "0.875 1 0.512" in page.words
    assert page.all("span", title="0.512345")


def test_a_confusion_matrix_has_a_row_and_a_column_for_the_background(
    scored: Scored, phase: Phase, team: Team, visit: Callable[..., Page]
) -> None:
    pairs = {("/m/1", "/m/1"): 10, ("/m/1", "/m/2"): 30, (None, "/m/2"): 7, ("/m/1", None): 3}
    matrix = [{"truth": truth, "prediction": label, "count": count} for (truth, label), count in pairs.items()]
    split = {"public": {"classes": CLASSES, "confusion": matrix}}
    page = visit(scored(phase, 0.5, team=team, report={"splits": split}), "report/confusions")
    assert "Cat /m/1 =Dog /m/2 nothing Cat /m/1 10 30 3 =Dog /m/2 0 0 0 nothing 0 7 0" in page.words
    assert page.all("td", class_="shade-3")


def test_a_large_confusion_matrix_is_called_a_part(
    scored: Scored, phase: Phase, team: Team, visit: Callable[..., Page]
) -> None:
    """The stored matrix itself can be a part, so the number of classes that are not shown may be larger."""
    matrix = [{"truth": f"/m/{n}", "prediction": f"/m/{n + 1}", "count": 1} for n in range(12)]
    split = {"public": {"classes": CLASSES, "confusion": matrix}}
    page = visit(scored(phase, 0.5, team=team, report={"splits": split}), "report/confusions")
    assert "report.json also contains the next 5 of them." in page.words


class TestTabs:
    """Tests the tabs of the report, each of which has its own URL."""

    def test_the_page_shows_scores_and_links_to_the_tabs_but_loads_none_of_them(
        self, explained: Submission, visit: Callable[..., Page]
    ) -> None:
        page = visit(explained)
        names = ("curves", "errors", "confusions", "breakdown", "settings", "classes")
        assert {f"/submissions/{explained.pk}/report/{name}#report" for name in names} <= set(page.links())
        assert not page.all("path", class_="curve")
        assert "Cat" not in page.words

    @pytest.mark.parametrize("name", PARTS)
    def test_a_tab_shows_its_own_part_only(self, name: str, explained: Submission, visit: Callable[..., Page]) -> None:
        report = visit(explained, f"report/{name}").context["report"]
        assert report.tab == name
        assert bool(report.chart) == (name == "curves")
        assert bool(report.classes) == (name == "classes")
        assert {table.name for table in report.tables} <= set(PARTS[name][1])

    @pytest.mark.parametrize("tab", ["report/nothing", "report/Errors"])
    def test_an_unknown_tab_is_404(self, tab: str, explained: Submission, visit: Callable[..., Page]) -> None:
        assert visit(explained, tab).status == 404

    def test_a_submission_without_a_score_has_no_tab(
        self, make: Make, phase: Phase, team: Team, visit: Callable[..., Page]
    ) -> None:
        assert visit(make.submission(phase, team), "report/errors").status == 404

    def test_the_axes_of_the_curves_are_named(self, explained: Submission, visit: Callable[..., Page]) -> None:
        words = visit(explained, "report/curves").words
        assert "recall precision" in words

    @pytest.mark.parametrize("track", TRACKS)
    def test_every_track_has_a_report_and_all_its_tables_are_in_a_tab(self, track: str) -> None:
        declared = TRACKS[track]
        shown = {table for name in tab_names(declared, withheld=False) for table in PARTS[name][1]}
        assert len(tab_names(declared, withheld=False)) > 1
        assert {table.name for table in (*declared.tables, *declared.explained_tables)} <= shown


@pytest.mark.phase(feedback_classes=False)
class TestWithheld:
    @pytest.mark.parametrize("tab", ["", *(f"report/{name}" for name in PARTS)])
    def test_a_withheld_report_is_not_shown(self, tab: str, explained: Submission, visit: Callable[..., Page]) -> None:
        page = visit(explained, tab)
        assert [tab.name for tab in page.context["report"].tabs] == ["metrics"]
        assert page.context["report"].withheld
        assert not [
            word for word in ("Cat", "1,234", "ablation", ".csv") if word in page.words.replace(explained.file_name, "")
        ]
        assert not page.all("path", class_="curve")

    @pytest.mark.parametrize("name", ["curves.csv", "classes.csv"])
    def test_the_files_of_a_withheld_report_do_not_exist(
        self, name: str, explained: Submission, client: Client
    ) -> None:
        assert client.get(f"/submissions/{explained.pk}/{name}").status_code == 404


def test_private_reports_stay_hidden_before_the_end(explained: Submission, client: Client) -> None:
    report = client.get(f"/submissions/{explained.pk}/report.json").json()
    assert list(report["splits"]) == ["public"]
    for name in ("curves.csv", "classes.csv"):
        assert {row["split"] for row in rows(client, explained, name)} == {"public"}


def test_files_have_all_digits_and_no_formulas(explained: Submission, client: Client) -> None:
    curves, classes = (rows(client, explained, name) for name in ("curves.csv", "classes.csv"))
    assert [(row["label"], row["confidence"], row["recall"], row["precision"]) for row in curves] == [
        ("", "", "0.5", "0.75"),
        ("", "", "1.0", "0.25"),
        ("/m/1", "0.9", "0.5", "0.5"),
        ("/m/1", "0.1", "1.0", "0.75"),
    ]
    assert [(row["name"], row["ap"], row["f1"]) for row in classes] == [("Cat", "0.875", "0.512345"), ("'=Dog", "", "")]


def test_files_are_downloads(explained: Submission, client: Client) -> None:
    answer = client.get(f"/submissions/{explained.pk}/report.json")
    assert answer["Content-Disposition"] == 'attachment; filename="report.json"'


class TestPending:
    @pytest.fixture
    def waiting(self, scored: Scored, phase: Phase, team: Team, inline_queue: InlineQueue) -> Submission:
        one: Submission = scored(phase, 0.5, team=team)
        reruns.request([one], truth=phase.truth, purpose=Rerun.Purpose.EXPLANATION)
        return one

    def test_the_page_asks_for_updates(self, waiting: Submission, visit: Callable[..., Page]) -> None:
        page = visit(waiting)
        assert page.all("div", id="panel")[0]["hx-get"].endswith("seen=scored-explaining")

    def test_the_panel_is_sent_when_the_report_is_ready(self, waiting: Submission, client: Client) -> None:
        address = f"/submissions/{waiting.pk}/panel?tab=curves&seen=scored-explaining"
        assert client.get(address).status_code == 204
        Rerun.objects.all().delete()
        explain(waiting, CONTENT)
        page = Page(client.get(address))
        assert page.all("path", class_="curve")
        assert "hx-get" not in page.all("div", id="panel")[0]

    def test_after_a_failure_the_page_stops_asking_for_updates(
        self, waiting: Submission, visit: Callable[..., Page]
    ) -> None:
        Rerun.objects.update(failure="too large")
        page = visit(waiting, "report/curves")
        assert page.context["report"].note
        assert "hx-get" not in page.all("div", id="panel")[0]


@pytest.mark.parametrize("tab", ["curves", "errors", "confusions", "settings"])
def test_the_file_of_the_command_line_shows_a_tab_as_the_page_does(
    tab: str, explained: Submission, client: Client
) -> None:
    """The report file and the page use the same templates. Only links, ids and the sentence about other tabs differ."""
    track = TRACKS["openimages-detection"]
    splits = {"public": SplitScores({"mAP": 0.5}, {}, SplitDetail(**CONTENT))}
    file = report_page(track, splits, file_name="a.csv", signature="s").replace("public-", "")
    page = client.get(f"/submissions/{explained.pk}/report/{tab}").content.decode()
    found = re.findall(r"<table.*?</table>|<svg class=.chart.*?</svg>", page, re.DOTALL)
    assert found
    assert [part for part in found if flat(part) not in flat(file)] == []


def flat(html: str) -> str:
    return " ".join(html.split())
