"""Template tags that are used inside sentences add no white space around their output."""

from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.contrib.messages import DEFAULT_TAGS, ERROR, WARNING
from django.template import Context, Template

from evaluator.report_page.curves import Chart, Curve
from server.submissions.models import Submission

VALUES = {
    "moment": datetime(2026, 6, 1, tzinfo=UTC),
    "interval": (0.4, 0.6),
    "submission": Submission(status="queued"),
}


@pytest.mark.parametrize(
    "tag",
    [
        "honest_score 0.5",
        "honest_score None",
        "honest_score 0.5 interval",
        "share 0.5",
        "gain 0.5",
        "measured 7 'number'",
        "measured None 'fraction'",
        "when moment",
        "when moment 'absolute'",
        "countdown moment moment",
        "medal 1",
        "medal None",
        "status submission",
        "interval 0.5 interval interval",
    ],
)
def test_a_component_has_no_white_space_around_it(tag: str) -> None:
    text = Template("{% load components %}[{% " + tag + " %}]").render(Context(VALUES))
    assert text.startswith("[<")
    assert text.endswith(">]")


def test_a_missing_time_or_interval_renders_nothing() -> None:
    template = Template("{% load components %}[{% when nothing %}{% interval 0.5 nothing nothing %}]")
    assert template.render(Context({"nothing": None})) == "[]"


def test_the_description_of_a_chart_lists_each_curve_with_its_area() -> None:
    lines = [Curve(name, "", "AP", 0.25, "own", "", []) for name in ("Cat", "mean")]
    assert "AP of Cat, area 0.250; AP of mean, area 0.250." in Chart(lines, "Cat", ()).description


@pytest.mark.parametrize("tag", [DEFAULT_TAGS[ERROR], DEFAULT_TAGS[WARNING]])
def test_a_message_about_an_error_or_a_warning_has_its_own_colour(tag: str) -> None:
    css = (settings.BASE_DIR / "server/static/components.css").read_text()
    assert f"\n.notice-{tag} {{ border-left-color: " in css
