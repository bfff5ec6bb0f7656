"""Tests the forms for challenges and phases without a database."""

from typing import Any

import pytest

from server.challenges.edit_forms import NewPhaseForm


def parameters_in(text: str) -> tuple[Any, list[str]]:
    """Return the value of the field for the parameters of a new phase, and its errors."""
    form = NewPhaseForm({"slug": "main", "track": "objectnet", "parameters": text}, {})
    errors = form.errors.get("parameters", [])
    return form.cleaned_data.get("parameters"), [str(error) for error in errors]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("# none", {}),
        ("top_k: 010", {"top_k": "010"}),  # YAML would read an octal number.
        ("iou_threshold: 2026-13-45\r\nprotocol: tfod", {"iou_threshold": "2026-13-45", "protocol": "tfod"}),
        ("iou_threshold: 0x_", {"iou_threshold": "0x_"}),
        ("iou_threshold: !!timestamp x", {"iou_threshold": "x"}),
        ("expand_hierarchy: no", {"expand_hierarchy": "no"}),
        ("weights: [0.4, 0.2, 0.4]", {"weights": ["0.4", "0.2", "0.4"]}),
        ("top_k: null", {}),
    ],
)
def test_the_parameters_of_a_new_phase_are_texts_as_in_challenge_yaml(text: str, expected: Any) -> None:
    assert parameters_in(text) == (expected, [])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("top_k", "line 1: expected lines of the form name: value."),
        ("top_k: {a: 1}", "line 1: top_k: expected a single value"),
        ("a: 1\na: 2", "line 2: a: is already on line 1"),
        ("[" * 900, "too many nested brackets."),
        ("{top_k: [}", "line 1: cannot be read"),
        ("a: &x [*x]", "line 1: a: expected a single value"),
        ("a: &a [1, 1]\nb: &b [*a, *a]\nc: &c [*b, *b]", "line 2: b: expected a single value"),
    ],
)
def test_parameters_that_challenge_yaml_could_not_have_are_an_error_of_the_form(text: str, words: str) -> None:
    value, errors = parameters_in(text)
    assert value is None
    assert words in errors[0]
