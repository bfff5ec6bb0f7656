"""The report of a scored submission on one split: curves, kinds of errors, and results per class."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluator.catalog import Track
from server.pages.challenge.splits import SplitLink, split_links
from server.pages.report.class_table import ClassTable, ReportQuery, class_table, labels_with_curve, parse_report_query
from server.pages.report.confusion_matrix import ConfusionMatrix, confusion_matrix
from server.pages.report.curves import Chart, curve_chart
from server.pages.report.tables import ShownTable, shown_table
from server.pages.submission.results import Result
from server.submissions.feedback import ScoreAccess, current_evaluation
from server.submissions.models import Submission
from server.submissions.reports import WITHHELD, ExplanationState, SplitDetail, details

NOTES = {
    ExplanationState.PENDING: "Computing curves and errors. They appear here when they are ready. Without JavaScript, "
    "reload the page.",
    ExplanationState.GIVEN_UP: "Curves and errors could not be computed, most likely because the file is too large. "
    "The score is not affected.",
}


@dataclass(frozen=True, slots=True)
class Report:
    """The part of a report that the page of the submission shows.

    `withheld` is true if the phase does not show reports.
    """

    note: str
    withheld: bool = False
    query: ReportQuery | None = None
    poll_query: str = "?"  # the query string of the table, for the requests that poll for updates
    splits: list[SplitLink] = field(default_factory=list)
    chart: Chart | None = None
    chart_caption: str = ""
    mean_query: str = ""  # the query string that shows only the mean curves
    tables: list[ShownTable] = field(default_factory=list)
    matrix: ConfusionMatrix | None = None
    classes: ClassTable | None = None


def report_of(
    parameters: Mapping[str, str], submission: Submission, access: ScoreAccess, result: Result, state: ExplanationState
) -> Report | None:
    """Return the report as the page of the submission shows it, or None if the track has no reports."""
    track, evaluation = submission.phase.declared_track, current_evaluation(submission)
    if evaluation is None or not (track.class_columns or track.explained_tables or track.curves):
        return None
    if not access.classes:
        return Report(note=WITHHELD, withheld=True)
    query = parse_report_query(parameters, columns=class_column_names(track))
    split = query.split if query.split in result.splits else result.headline_split
    detail = details(evaluation, access, [split]).get(split, SplitDetail())
    classes = class_table(track, query, detail, parameters.get("page", ""))
    chart = curve_chart(detail.curves, curve_titles(track), query.chosen_class)
    names = {str(row["label"]): str(row["name"] or row["label"]) for row in detail.classes}
    return Report(
        note=NOTES.get(state, ""),
        query=query,
        poll_query=f"{query.query_string()}&page={classes.pages.number if classes else ''}&",
        splits=split_links(result.splits, current=split, query=lambda name: query.query_string(split=name)),
        chart=chart,
        chart_caption=chart_caption(chart, track, detail) if chart else "",
        mean_query=query.query_string(chosen=""),
        tables=declared_tables(track, detail, names),
        matrix=declared_matrix(track, detail, names),
        classes=classes,
    )


def class_column_names(track: Track) -> list[str]:
    return [heading.name for heading in (*track.class_columns, *track.explained_columns)]


def curve_titles(track: Track) -> dict[str, str]:
    """Return the titles of the metrics that have curves."""
    return {heading.name: heading.title for heading in track.class_columns if heading.name in track.curves}


def chart_caption(chart: Chart, track: Track, detail: SplitDetail) -> str:
    """Return a caption that explains the chart and how to see other curves."""
    sentences = ["Interpolated precision (y) against recall (x)."]
    if chart.chosen_class:
        sentences.append("The area under a curve is its average precision.")
    else:
        sentences.append(
            "The area under a curve is its average precision; the area under the mean curve is the mean average "
            "precision."
        )
    if track.class_columns and labels_with_curve(detail):
        article = "another" if chart.chosen_class else "a"
        sentences.append(f"Choose {article} {track.class_word} below to see its curve.")
    return " ".join(sentences)


def declared_tables(track: Track, detail: SplitDetail, names: Mapping[str, str]) -> list[ShownTable]:
    """Return the tables of the explanation, then those of the track. The confusion matrix is shown separately."""
    return [
        shown_table(declared, detail.tables[declared.name], names, detail.left_out.get(declared.name, 0))
        for declared in (*track.explained_tables, *track.tables)
        if declared.name in detail.tables and declared.name != "confusion"
    ]


def declared_matrix(track: Track, detail: SplitDetail, names: Mapping[str, str]) -> ConfusionMatrix | None:
    """Return the confusion matrix, if the track declares one and the report has it."""
    declared = next((table for table in track.explained_tables if table.name == "confusion"), None)
    rows = detail.tables.get("confusion", [])
    return confusion_matrix(declared, rows, names) if declared and rows else None
