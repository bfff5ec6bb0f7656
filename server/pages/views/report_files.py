"""Downloads of a submission's report as JSON and CSV, limited to the parts that the viewer may see."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from server.accounts.requests import PersonRequest
from server.leaderboards.export import harmless
from server.pages.views.submission import read_or_404
from server.submissions.reports import visible_report

POINT = ("confidence", "recall", "precision")


def report_or_404(request: PersonRequest, pk: UUID) -> dict[str, Any]:
    read = read_or_404(request.user, pk)
    report = visible_report(read.submission, access=read.access)
    if report is None:
        raise Http404("this submission has no score")
    return report


@require_safe
@login_required
def report_json(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Serve the report on a submission as a JSON file, in the format of the API."""
    report = report_or_404(request, pk)
    return JsonResponse(report, headers=attachment("report.json"))


@require_safe
@login_required
def classes_csv(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Serve a submission's results per class as a CSV file, with a line for each split and class.

    The cells of undefined numbers are empty.
    """
    report = report_or_404(request, pk)
    rows = [{"split": name, **row} for name, split in report["splits"].items() for row in split["classes"] or ()]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return csv_file("classes.csv", columns, ([row.get(name) for name in columns] for row in rows))


@require_safe
@login_required
def curves_csv(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Serve a submission's precision/recall curves as a CSV file, with a line for each point of a curve.

    Curves that are averaged over all classes have neither labels nor confidences.
    """
    report = report_or_404(request, pk)
    return csv_file("curves.csv", ("split", "curve", "label", "name", *POINT), curve_points(report))


def curve_points(report: dict[str, Any]) -> Iterator[Sequence[Any]]:
    for name, split in report["splits"].items():
        for row in split["curves"]:
            confidences = row["confidence"] or [None] * len(row["recall"])
            for point in zip(confidences, row["recall"], row["precision"], strict=True):
                yield (name, row["curve"], row["label"], row["name"], *point)


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """Return an HTTP response with a CSV file. The numbers in `rows` are not rounded.

    Cells that look like spreadsheet formulas are escaped. Raises Http404 if there are no rows.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    count = 0
    for row in rows:
        count += 1
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])
    if not count:
        raise Http404("this file would be empty")
    return HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8", headers=attachment(name))


def attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}
