"""Renders the templates of the report with Jinja."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from evaluator.report_page import numbers
from evaluator.report_page.score_digits import interval_text

FOLDER = Path(__file__).parent
# The order matters: a later style sheet can override an earlier one.
STYLE_SHEETS = ("tokens", "text", "table", "report", "report_file")


def render(name: str, **context: Any) -> str:
    """Return the HTML of the template ``name`` without surrounding white space. Plain strings are escaped.

    ``decimals`` is the maximum number of decimals of scores; None sets no additional limit. ``prefix`` is the beginning
    of the ids of headings, for a page that contains a template several times. ``source`` is the displayed
    name of the file or output that contains the omitted rows.
    """
    defaults = {"decimals": None, "prefix": "", "source": "report.json"}
    return _environment().get_template(f"{name}.html").render({**defaults, **context}).strip()


def styles() -> Markup:
    """Return the style sheets of a report that is written to a file."""
    texts = [(FOLDER / "static" / f"{name}.css").read_text(encoding="utf-8") for name in STYLE_SHEETS]
    return Markup("\n".join(texts))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        score=_safe(numbers.score_html),
        share=_safe(numbers.share_html),
        measured=_safe(numbers.measured_html),
        number=numbers.number_text,
        interval=interval_text,
    )
    return environment


def _safe(function: Any) -> Any:
    """Return a function that marks the HTML from ``function`` as safe, so that templates do not escape it."""
    return lambda *arguments: Markup(function(*arguments))
