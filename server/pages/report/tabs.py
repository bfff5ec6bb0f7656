"""Tabs on a submission's page, one for each part of the report, and the URLs of the tabs."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from evaluator.catalog import Track
from evaluator.report_page.content import CLASSES, CURVES, METRICS, PARTS, part_title


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab on a submission's page, with its title and URL."""

    name: str
    title: str
    address: str
    is_current: bool


def tab_names(track: Track, *, withheld: bool) -> list[str]:
    """Return the names of the tabs that a submission's page has for a track.

    If the phase withholds reports, there is only the metrics tab.
    """
    if withheld:
        return [METRICS]
    declared = {table.name for table in (*track.tables, *track.explained_tables)}
    special = {METRICS: True, CURVES: bool(track.curves), CLASSES: bool(track.class_columns)}
    return [name for name, (_, tables) in PARTS.items() if special.get(name) or not declared.isdisjoint(tables)]


def tabs_of(names: Sequence[str], submission: UUID, track: Track, *, current: str) -> list[Tab]:
    """Return the tabs with the given names for the page of a submission."""
    return [Tab(name, part_title(name, track), tab_address(submission, name), name == current) for name in names]


def tab_address(submission: UUID, name: str) -> str:
    """Return the URL of a tab on a submission's page. The metrics tab has the URL of the page itself."""
    if name == METRICS:
        return reverse("submission", args=[submission])
    return reverse("submission_tab", args=[submission, name])
