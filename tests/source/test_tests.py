"""The arguments of test functions are annotated with types, and tests share their fixtures."""

import ast
from collections import Counter

from tests.source.tree import FunctionNode, functions, is_fixture

UNTYPED_BELOW = 0.1
DEFINITIONS_LIMIT = 6


def arguments(function: FunctionNode) -> list[ast.arg]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return [one for one in named if one.arg not in ("self", "cls")]


def test_at_most_a_tenth_of_the_arguments_of_test_functions_is_untyped() -> None:
    """An argument that is annotated with `Any`, or that has no annotation, counts as untyped."""
    types = [
        one.annotation and ast.unparse(one.annotation)
        for _, function in functions("tests")
        for one in arguments(function)
    ]
    untyped = sum(one in (None, "Any") for one in types)
    assert len(types) > 1000
    assert untyped / len(types) < UNTYPED_BELOW


def test_phase_member_and_team_are_shared_fixtures() -> None:
    """Tests set the fields of these fixtures with markers instead of defining fixtures; see `tests/conftest.py`."""
    found = Counter(function.name for _, function in functions("tests") if is_fixture(function))
    assert found["make"] == 1
    assert found["phase"] + found["member"] + found["team"] <= DEFINITIONS_LIMIT
