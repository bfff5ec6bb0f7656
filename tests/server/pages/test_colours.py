"""The colours in tokens.css have the contrast that WCAG AA requires, in both the light and the dark colour scheme."""

import re
from pathlib import Path

import pytest

import evaluator

TOKENS = (Path(evaluator.__file__).parent / "report_page" / "static" / "tokens.css").read_text()
LIGHT, DARK = TOKENS.split("@media (prefers-color-scheme: dark)")
TEXT, SHAPE = 4.5, 3.0

# Each item consists of a colour, a background colour and the required contrast between them.
PAIRS = [
    *(
        (word, ground, TEXT)
        for word in ("ink", "soft", "accent", "bad", "warn", "good")
        for ground in ("paper", "panel")
    ),
    *(("faint", ground, TEXT) for ground in ("paper", "panel", "accent-soft")),
    *((word, "accent-soft", TEXT) for word in ("ink", "soft", "accent")),
    *((word, "track", TEXT) for word in ("ink", "soft")),
    ("paper", "accent", TEXT),
    *((medal, "panel", SHAPE) for medal in ("gold", "silver", "bronze")),
    ("faint", "panel", SHAPE),
]


def luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("word", "ground", "least"), PAIRS)
def test_every_pair_of_colours_has_the_required_contrast(word: str, ground: str, least: float, scheme: str) -> None:
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", LIGHT if scheme == "light" else DARK))
    assert contrast(colours[word], colours[ground]) >= least


def test_both_schemes_define_the_same_colours() -> None:
    names = [re.findall(r"--([a-z-]+): #", half) for half in (LIGHT, DARK)]
    assert names[0] == names[1]
