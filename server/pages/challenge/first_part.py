"""Describes the submission format for the browser script that checks the beginning of a file before the upload."""

import json
from typing import Any

from evaluator.catalog import Column, Form


def file_layout(form: Form) -> str:
    """Return a description of a submission format as JSON.

    For a CSV format, the description contains the possible layouts. Each layout has the header, the names of the tokens
    that form a prediction, and the names of the columns or tokens that contain numbers. For a JSON format, the
    description contains the first character of a valid file.
    """
    if form.kind != "table":
        return json.dumps({"kind": form.kind, "start": form.example.strip()[:1]})
    layouts = [layout_of(form.long_header, [], form.columns)]
    if form.tokens:
        layouts.insert(0, layout_of(form.kaggle_header, [token.name for token in form.tokens], form.tokens))
    return json.dumps({"kind": form.kind, "layouts": layouts})


def layout_of(header: tuple[str, ...], tokens: list[str], columns: tuple[Column, ...]) -> dict[str, Any]:
    numbers = [column.name for column in columns if column.kind == "number"]
    return {"header": list(header), "tokens": tokens, "numbers": numbers}
