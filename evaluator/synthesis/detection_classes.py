"""Defines a selection of Open Images classes, with their ids, frequencies and hierarchy."""

import json
from typing import Any

import numpy as np

from evaluator.synthesis.random_stream import Ints

ROOT = "/m/0bl9f"

# A class consists of an id, a name, a weight (its relative frequency) and subclasses. Only the class tomato has two
# parents: fruit and vegetable.
_Kind = tuple[str, str, int, tuple[Any, ...]]
_TOMATO: _Kind = ("/m/07j87", "Tomato", 3, ())
_TREE: tuple[_Kind, ...] = (
    (
        "/m/0jbk",
        "Animal",
        1,
        (
            ("/m/015p6", "Bird", 4, (("/m/09ddx", "Duck", 2, ()), ("/m/09d5_", "Owl", 1, ()))),
            ("/m/01lrl", "Carnivore", 1, (("/m/01yrx", "Cat", 6, ()), ("/m/0bt9lr", "Dog", 7, ()))),
            ("/m/03k3r", "Horse", 3, ()),
            ("/m/0bwd_0j", "Elephant", 1, ()),
        ),
    ),
    (
        "/m/01g317",
        "Person",
        8,
        (
            ("/m/04yx4", "Man", 12, ()),
            ("/m/03bt1vf", "Woman", 10, ()),
            ("/m/01bl7v", "Boy", 3, ()),
            ("/m/05r655", "Girl", 4, ()),
        ),
    ),
    (
        "/m/07yv9",
        "Vehicle",
        1,
        (
            (
                "/m/01prls",
                "Land vehicle",
                1,
                (
                    ("/m/0k4j", "Car", 9, (("/m/0h2r6", "Van", 2, ()),)),
                    ("/m/0199g", "Bicycle", 4, ()),
                    ("/m/04_sv", "Motorcycle", 2, ()),
                ),
            ),
        ),
    ),
    (
        "/m/0c_jw",
        "Furniture",
        1,
        (("/m/01mzpv", "Chair", 7, ()), ("/m/04bcr3", "Table", 4, (("/m/078n6m", "Coffee table", 2, ()),))),
    ),
    ("/m/04szw", "Musical instrument", 1, (("/m/0342h", "Guitar", 3, ()), ("/m/07y_7", "Violin", 1, ()))),
    ("/m/02xwb", "Fruit", 1, (("/m/014j1m", "Apple", 2, ()), _TOMATO)),
    ("/m/0f4s2w", "Vegetable", 1, (("/m/0fj52s", "Carrot", 2, ()), _TOMATO)),
    ("/m/07j7r", "Tree", 6, ()),
)


def _walk(kinds: tuple[_Kind, ...], above: frozenset[str]) -> list[tuple[str, str, int, frozenset[str]]]:
    found = []
    for label, name, weight, below in kinds:
        found.append((label, name, weight, above))
        found += _walk(below, above | {label})
    return found


def _nodes(kinds: tuple[_Kind, ...]) -> list[dict[str, Any]]:
    return [{"LabelName": label} | ({"Subcategory": _nodes(below)} if below else {}) for label, _, _, below in kinds]


_NODES = _walk(_TREE, frozenset())
NAMES = {label: name for label, name, _, _ in _NODES}
LABELS = tuple(NAMES)
WEIGHTS: Ints = np.array(list({label: weight for label, _, weight, _ in _NODES}.values()), dtype=np.int64)
HIERARCHY = json.dumps({"LabelName": ROOT, "Subcategory": _nodes(_TREE)}, indent=1) + "\n"

LINEAGE = np.array(
    [[a == c or any(label == c and a in above for label, _, _, above in _NODES) for a in LABELS] for c in LABELS]
)
"""``LINEAGE[c, a]`` is true if class ``a`` is class ``c`` itself or one of its ancestors."""
