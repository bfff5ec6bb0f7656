"""Organizers are told what feedback gives away: in the admin, and when a bundle turns on results per class."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from server.challenges.models import Phase
from server.challenges.revealed import PER_CLASS, bits_a_day, in_words


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


def test_a_number_of_one_decimal_has_eleven_values() -> None:
    assert 2 ** (bits_a_day(phase(quota_per_day=1, feedback_decimals=1))) == pytest.approx(11)


@pytest.mark.parametrize("shown", [True, False])
def test_the_admin_says_it(shown: bool, make: Any, client: Client) -> None:
    row = make.phase(feedback_classes=shown)
    client.force_login(make.user(is_staff=True, is_superuser=True))
    html = client.get(reverse("admin:challenges_phase_change", args=[row.pk])).content.decode()
    assert f"{bits_a_day(row):,.0f} bits a day" in html
    assert (PER_CLASS in in_words(row)) == shown
    assert html.count(PER_CLASS) == 1 + shown  # beside the switch, and as what is revealed now


@pytest.mark.parametrize("shown", ["true", "false"])
def test_an_import_says_what_results_per_class_tell(
    shown: str, bundle: Any, run: Any, quick_podium: Any, db: None
) -> None:
    bundle.sheet(phase=f"    feedback: {{classes: {shown}}}\n")
    assert any(PER_CLASS in sentence for sentence in run()) == (shown == "true")
