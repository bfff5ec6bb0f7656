"""The report of a scored submission on one split: curves, where the score was lost, class by class."""

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Page, Paginator
from django.urls import reverse

from evaluator.catalog import Track
from server.pages import classes, curves, report_tables
from server.pages.results import Result
from server.submissions import reports
from server.submissions.feedback import Sight, current_evaluation
from server.submissions.models import Submission
from server.submissions.reports import Detail, State

ROWS = 25
NOTES = {
    State.PENDING: "Computing curves and errors. They appear here when they are ready. Without JavaScript, reload the "
    "page.",
    State.GIVEN_UP: "Curves and errors could not be computed, most likely because the file is too large. "
    "The score is not affected.",
}


def report_of(
    asked: Mapping[str, str], one: Submission, seen: Sight, result: Result, state: State
) -> dict[str, Any] | None:
    """Everything of the report that its page shows; None where the track has none."""
    track, evaluation = one.phase.declared_track, current_evaluation(one)
    if evaluation is None or not (track.class_columns or track.explained_tables or track.curves):
        return None
    if not seen.classes:
        return {"withheld": True, "note": reports.WITHHELD}
    wish = classes.wish_of(asked, columns=columns_of(track))
    split = wish.split if wish.split in result.splits else result.headline_split
    detail = reports.details(evaluation, seen, [split]).get(split, Detail())
    titles = {heading.name: heading.title for heading in track.class_columns if heading.name in track.curves}
    table = class_table(track, wish, detail, asked.get("page", ""), reverse("submission", args=[one.pk]))
    return {
        "note": NOTES.get(state, ""),
        "wish": wish,
        "follow": f"{wish.query()}&page={table['pages'].number if table else ''}&",
        "splits": classes.choices_of(result.splits, wish, split),
        "chart": curves.chart(detail.curves, titles, wish.chosen),
        "whole": wish.query(chosen=""),
        **tables(track, detail),
        "classes": table,
    }


def columns_of(track: Track) -> list[str]:
    return [heading.name for heading in (*track.class_columns, *track.explained_columns)]


def tables(track: Track, detail: Detail) -> dict[str, Any]:
    """The tables that an explanation adds, then the matrix, then the track's own."""
    names = {str(row["label"]): str(row["name"] or row["label"]) for row in detail.classes}
    shown = [
        report_tables.table_of(declared, detail.tables[declared.name], names, detail.left_out.get(declared.name, 0))
        for declared in (*track.explained_tables, *track.tables)
        if declared.name in detail.tables and declared.name != "confusion"
    ]
    matrices = [declared for declared in track.explained_tables if declared.name == "confusion"]
    rows = detail.tables.get("confusion", [])
    return {
        "tables": shown,
        "matrix": report_tables.matrix_of(matrices[0], rows, names) if matrices and rows else None,
    }


def class_table(track: Track, wish: classes.Wish, detail: Detail, page: str, address: str) -> dict[str, Any] | None:
    """Class by class, 25 rows at a time."""
    if not track.class_columns:
        return None
    pages: Page[Any] = Paginator(classes.select(detail.classes, wish), ROWS).get_page(page)
    known = set(detail.classes[0]) if detail.classes else set()
    return {
        "pages": pages,
        "columns": [column for column in classes.columns_of(track, wish) if column.name in {"name", *known}],
        "word": track.class_word,
        "drawn": {row["label"] for row in detail.curves if row["area"] is not None},
        "link": f"{address}{wish.query()}&",
    }
