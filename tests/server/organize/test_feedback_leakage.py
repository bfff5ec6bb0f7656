"""The admin, and imports that enable results per class, show how much feedback reveals about the ground truth."""

from collections.abc import Callable
from math import floor, log2, log10
from random import Random
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluator.digits import published
from server.challenges.feedback_leakage import (
    END_STEPS,
    PER_CLASS,
    bits_a_day,
    bits_of_a_class,
    bits_of_a_number,
    bits_of_rank_intervals,
    leakage_text,
)
from server.challenges.models import Phase
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder


def phase(**fields: Any) -> Phase:
    return Phase(track="openimages-detection", **fields)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"quota_per_day": 4}, {"quota_per_day": 5}),
        ({"feedback": "rounded", "feedback_decimals": 2}, {"feedback": "rounded", "feedback_decimals": 3}),
        ({"feedback": "rounded", "feedback_decimals": 5}, {}),
    ],
)
def test_less_feedback_reveals_fewer_bits(less: dict[str, Any], more: dict[str, Any]) -> None:
    assert bits_a_day(phase(**less)) < bits_a_day(phase(**more))


def test_a_score_with_one_decimal_has_eleven_possible_values() -> None:
    assert 2 ** bits_of_a_number(phase(feedback_decimals=1)) == pytest.approx(11)


def test_interval_ends_ranks_ties_and_comparisons_are_counted() -> None:
    """The test computes how many bits one submission reveals if scores are rounded to one decimal.

    Each score and each end of a confidence interval can take 11 values. The submission is compared with an earlier
    submission of its team and with 10,000 other teams. Each comparison shows a confidence interval for the difference
    between the two scores. The submission may be in the same tie group as the team above or not, or this is unknown.
    Its own tie group may end at any of the teams. Rank intervals show for each team whether the submission is better,
    worse, or neither. They also reveal the critical value of the significance test. The critical value can take a
    million values: one for each pair that consists of any team and one of the first 100 teams.
    """
    counted = phase(quota_per_day=1, quota_total=2, feedback_decimals=1)
    values = 11 * 11**2 * 10_000 * 3 * 10_000 * 1_000_000 * 11**2
    others = 10_000 * log2(11**2) + 10_000 * log2(3)
    assert bits_a_day(counted) == pytest.approx(log2(values) + others)


def test_a_published_interval_has_no_more_values_than_are_counted() -> None:
    """Each end of a rounded interval is within END_STEPS steps of the score. A step is one unit of the last digit."""
    random = Random(1)
    for _ in range(2_000):
        score, half = random.random(), 10 ** random.uniform(-8, -0.31)
        interval = max(0.0, score - half * random.uniform(0.1, 1.9)), min(1.0, score + half * random.uniform(0.1, 1.9))
        step = 10.0 ** (floor(log10((interval[1] - interval[0]) / 2)) - 1)
        for end in published(interval):
            assert abs(end - score) / step < END_STEPS


def test_ladder_feedback_shows_no_ties_and_no_differences() -> None:
    assert bits_a_day(phase(feedback="ladder")) < bits_a_day(phase())
    assert bits_of_rank_intervals(phase(feedback="ladder")) == 0
    assert "control who registers" in leakage_text(phase(feedback="ladder"))


def test_results_per_class_are_counted_with_their_charts() -> None:
    assert bits_of_a_class(phase()) > 50 * 3 * 20
    assert f"{bits_of_a_class(phase()):,.0f} bits more, including its charts" in leakage_text(
        phase(feedback_classes=True)
    )


@pytest.mark.parametrize("shown", [True, False])
def test_the_admin_shows_how_much_feedback_reveals(shown: bool, make: Make, client: Client) -> None:
    row = make.phase(feedback_classes=shown)
    client.force_login(make.user(is_staff=True, is_superuser=True))
    html = client.get(reverse("admin:challenges_phase_change", args=[row.pk])).content.decode()
    assert f"{bits_a_day(row):,.0f} bits per day" in html
    assert (PER_CLASS in leakage_text(row)) == shown
    assert (
        html.count(PER_CLASS) == 1 + shown
        # The help text of the setting "results per class" always contains the warning PER_CLASS. If the setting is on,
        # the text about the feedback of this phase contains it, too.
    )


@pytest.mark.parametrize("shown", ["true", "false"])
def test_an_import_reports_how_much_results_per_class_reveal(
    shown: str, bundle: BundleFolder, run: Callable[..., list[str]], quick_podium: list[tuple[str, ...]], db: None
) -> None:
    bundle.sheet(phase=f"    feedback: {{classes: {shown}}}\n")
    assert any(PER_CLASS in sentence for sentence in run()) == (shown == "true")
