"""Builds one tab of the report on a scored submission, for one split."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.http import urlencode

from evaluator.catalog import Track
from evaluator.report_page.confusion_matrix import ConfusionMatrix
from evaluator.report_page.content import CLASSES, CURVES, METRICS, SplitDetail, part_title, table_part
from evaluator.report_page.curves import Chart, chart_caption, curve_chart
from evaluator.report_page.tables import ShownTable
from server.pages.challenge.splits import SplitLink, split_links
from server.pages.report.class_table import (
    Addresses,
    ClassTable,
    ReportQuery,
    class_table,
    labels_with_curve,
    parse_report_query,
)
from server.pages.report.tabs import Tab, tab_address, tab_names, tabs_of
from server.pages.submission.results import Result
from server.submissions.feedback import ScoreAccess, current_evaluation
from server.submissions.models import Submission
from server.submissions.reports import WITHHELD, ExplanationState, details

NOTES = {
    ExplanationState.PENDING: "Computing curves and errors. They appear here when they are ready. "
    "If JavaScript is off, reload the page.",
    ExplanationState.GIVEN_UP: "Curves and errors could not be computed, probably because the file is too large. "
    "The score is not affected.",
}


@dataclass(frozen=True, slots=True)
class Report:
    """One tab of the report on a submission.

    `address` is the URL of the tab. `withheld` is true if the phase does not show reports. `poll_query` is the query
    string for requests that poll for updates. `mean_address` is the URL that shows only the curves averaged over all
    classes; it is empty if no class is chosen.
    """

    note: str
    tab: str
    title: str
    tabs: list[Tab]
    address: str
    withheld: bool = False
    query: ReportQuery | None = None
    poll_query: str = "?"
    splits: list[SplitLink] = field(default_factory=list)
    chart: Chart | None = None
    chart_caption: str = ""
    mean_address: str = ""
    tables: list[ShownTable] = field(default_factory=list)
    matrix: ConfusionMatrix | None = None
    classes: ClassTable | None = None

    @property
    def errors_address(self) -> str:
        """The URL of the "Errors" tab, or an empty string if the report has no such tab."""
        return next((tab.address for tab in self.tabs if tab.name == "errors"), "")

    @property
    def is_empty(self) -> bool:
        """Whether this tab has nothing to show, not even a note. The metrics tab is never empty."""
        return self.tab != METRICS and not (self.note or self.chart or self.tables or self.matrix or self.classes)


def report_of(
    parameters: Mapping[str, str],
    submission: Submission,
    access: ScoreAccess,
    result: Result,
    state: ExplanationState,
    tab: str,
) -> Report | None:
    """Return a tab of the report on a submission, or None if the track has no such tab.

    If the phase does not show reports, the metrics tab is returned in place of any other tab.
    """
    track, evaluation = submission.phase.declared_track, current_evaluation(submission)
    if evaluation is None or tab not in tab_names(track, withheld=False):
        return None
    names = tab_names(track, withheld=not access.classes)
    tab = tab if tab in names else METRICS
    has_report = len(tab_names(track, withheld=False)) > 1
    first = Report(
        note=("" if access.classes else WITHHELD) if has_report else "",
        tab=tab,
        title=part_title(tab, track),
        tabs=tabs_of(names, submission.pk, track, current=tab),
        address=tab_address(submission.pk, tab),
        withheld=not access.classes,
        poll_query=f"?{urlencode({'tab': tab})}&",
    )
    if tab == METRICS:
        return first
    query = parse_report_query(parameters, columns=class_column_names(track) or ["name"])
    split = query.split if query.split in result.splits else result.headline_split
    detail = details(evaluation, access, [split]).get(split, SplitDetail())
    curves_address = tab_address(submission.pk, CURVES)
    addresses = Addresses(first.address, curves_address)
    content = content_of_tab(tab, track, query, detail, parameters.get("page", ""), addresses)
    classes: ClassTable | None = content.get("classes")
    return replace(
        first,
        note=NOTES.get(state, "") if tab != CLASSES or not detail.classes else "",
        query=query,
        poll_query=f"{query.query_string(tab=tab)}&page={classes.pages.number if classes else ''}&",
        splits=split_links(result.splits, current=split, query=lambda name: query.query_string(split=name)),
        **content,
        mean_address=f"{curves_address}{query.query_string(chosen='')}#report" if query.chosen_class else "",
    )


def content_of_tab(
    tab: str, track: Track, query: ReportQuery, detail: SplitDetail, page: str, addresses: Addresses
) -> dict[str, Any]:
    """Return the fields of `Report` with the content of a tab: curves, results per class, or other tables."""
    if tab == CURVES:
        chart = curve_chart(detail.curves, track, query.chosen_class)
        return {"chart": chart, "chart_caption": caption_of(chart, track, detail) if chart else ""}
    if tab == CLASSES:
        return {"classes": class_table(track, query, detail, page, addresses) if detail.classes else None}
    part = table_part(tab, track, detail)
    return {"tables": part.tables, "matrix": part.matrix}


def class_column_names(track: Track) -> list[str]:
    return [heading.name for heading in (*track.class_columns, *track.explained_columns)]


def caption_of(chart: Chart, track: Track, detail: SplitDetail) -> str:
    """Return a caption that explains a chart of precision/recall curves and how to see the curves of other classes."""
    sentences = [chart_caption(chart, track)]
    if track.class_columns and labels_with_curve(detail):
        article = "another" if chart.chosen_class else "a"
        sentences.append(f"Choose {article} {track.class_word} in the tab “By {track.class_word}” to see its curve.")
    return " ".join(sentences)
