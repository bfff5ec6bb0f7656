"""The organizers' page with the statistics of one version of a ground truth."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from server.accounts.requests import PersonRequest
from server.challenges.gate import gate_of
from server.organize.services import rescoring, statistics
from server.pages.console.kept_warnings import take_warnings
from server.pages.formatting.truth_charts import bars, rank_chart, shown_splits
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context
from server.pages.views.truths import organized_phase

MOST_ROWS = 20


@require_safe
@login_required
def show(request: PersonRequest, slug: str, phase: str, version: int) -> HttpResponse:
    """Show the statistics of a ground truth: counts, histograms, class balance and the highest possible scores.

    The statistics were computed when the ground truth was prepared.
    """
    found = organized_phase(request, slug, phase)
    truth = rescoring.version_of(found, version)
    current, content = organized_context(request, slug), statistics.of(truth)
    context = {"current": current, "now": current.now, "of_phase": found, "truth": truth}
    context |= {"gate": gate_of(truth, found), "warnings": take_warnings(request)}
    return render_page(request, "organize/truth_version.html", {**context, **(shown(content) if content else {})})


def shown(content: dict[str, Any]) -> dict[str, Any]:
    """Return the template context for the stored statistics of a ground truth."""
    splits = list(content["counts"][0]["values"])
    return {
        "has_statistics": True,
        "splits": splits,
        "counts": [
            (one["title"], [written(one["values"].get(split), one["kind"]) for split in splits])
            for one in content["counts"]
        ],
        "histograms": [bars(one) for one in content["histograms"]],
        "rankings": [ranking(one) for one in content["rankings"]],
        "ceilings": list(content.get("ceiling", {}).items()),
    }


def written(value: float | None, kind: str) -> str:
    """Return a count or a fraction as text. A fraction is written as a percentage.

    >>> written(1200, "number"), written(0.125, "share"), written(None, "share")
    ('1,200', '12.5%', '–')
    """
    if value is None:
        return "–"
    return f"{value:.1%}" if kind == "share" else f"{value:,}"


def ranking(found: dict[str, Any]) -> dict[str, Any]:
    """Return the template context for the number of objects per class: a chart, and table rows.

    A table row consists of a label, a name, and the number of objects in each split.
    """
    curves = found["curves"]
    splits = [split for split in ("all", "public", "private") if split in curves]
    used = curves["all"][-1][0] if curves["all"] else 0

    def cells(rows: list[dict[str, Any]]) -> list[tuple[str, str, list[int]]]:
        return [(row["label"], row["name"], [row[split] for split in splits]) for row in rows]

    return {
        "title": found["title"],
        "word": found["word"],
        "used": used,
        "unused": found["total"] - used,
        "splits": splits,
        "has_halves": len(shown_splits(curves)) > 1,
        "missing": found["missing"],
        "rare": found["rare"],
        "chart": rank_chart(curves),
        "frequent": cells(found["rows"][:MOST_ROWS]),
        "unbalanced": cells(found["unbalanced"]),
    }
