"""Rewrites submissions in ways that must not change their scores: order, quoting, line endings and letter case."""

import csv
import gzip
import io
import json
import random
from typing import Any

from evaluator.catalog import Form


def rewritten(form: Form, text: str, chance: random.Random) -> bytes:
    dress = {"table": as_table, "rows": as_rows, "json": as_json}[form.kind]
    content = (chance.choice(["", "\ufeff"]) + dress(form, text, chance)).encode()
    return gzip.compress(content) if chance.random() < 0.5 else content


def as_table(form: Form, text: str, chance: random.Random) -> str:
    header, *rows = csv.reader(io.StringIO(text))
    chance.shuffle(rows)
    if "PredictionString" in header:
        rows = [[*image, shuffled(string, len(form.tokens), chance)] for *image, string in rows]
    columns = chance.sample(range(len(header)), len(header))
    names = [chance.choice([header[c], header[c].upper(), header[c].lower()]) for c in columns]
    return written([names, *([row[c] for c in columns] for row in rows)], chance)


def as_rows(form: Form, text: str, chance: random.Random) -> str:
    rows = list(csv.reader(io.StringIO(text)))
    chance.shuffle(rows)
    return written([[chance.choice(["", "folder/", "a/b/"]) + row[0], *row[1:]] for row in rows], chance)


def as_json(form: Form, text: str, chance: random.Random) -> str:
    """Shuffle the keys of objects in a JSON file and, if the top level is a list, the elements of this list."""
    value = turned(json.loads(text), chance)
    if isinstance(value, list):
        chance.shuffle(value)
    return json.dumps(value, indent=chance.choice([None, 1]))


def turned(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        return {name: turned(value[name], chance) for name in chance.sample(list(value), len(value))}
    return [turned(each, chance) for each in value] if isinstance(value, list) else value


def shuffled(string: str, width: int, chance: random.Random) -> str:
    tokens = string.split()
    predictions = [tokens[start : start + width] for start in range(0, len(tokens), width)]
    chance.shuffle(predictions)
    return chance.choice([" ", "  "]).join(token for prediction in predictions for token in prediction)


def written(rows: list[list[str]], chance: random.Random) -> str:
    out = io.StringIO()
    quoting = chance.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(out, lineterminator=chance.choice(["\n", "\r\n", "\r"]), quoting=quoting).writerows(rows)
    return out.getvalue()
