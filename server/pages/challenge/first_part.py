"""Describes the layout of a submission for the script that checks the beginning of a file in the browser."""

import json
from typing import Any

from evaluator.catalog import Column, Form


def file_layout(form: Form) -> str:
    """Return a file format as JSON: its kind, and its CSV layouts or the first character of a JSON file.

    A CSV layout consists of the header and the tokens. `numbers` names the columns or tokens that contain numbers.
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
