"""There is advice for every defect code of the evaluator, and none for codes that do not exist."""

import ast
from collections.abc import Iterator
from pathlib import Path

import evaluator
from evaluator.problems import NOTHING_TO_SCORE
from server.submissions.defect_advice import ADVICE

ROOT = Path(evaluator.__file__).parent
FILES = [*(ROOT / "files").glob("*.py"), *(ROOT / "tracks").rglob("*.py")]


def texts(node: ast.AST) -> Iterator[str]:
    """Yield the possible values of a string expression: a constant, or both branches of a conditional expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)


def codes_in(node: ast.AST) -> Iterator[str]:
    """Yield the defect codes in a syntax tree node. The evaluator's source code contains them in several constructs."""
    match node:
        case ast.Call(func=ast.Attribute(attr="notice"), args=[ast.Name(id="NOTHING_TO_SCORE"), *_]):
            yield NOTHING_TO_SCORE
        case ast.Call(func=ast.Name(id="Problem"), args=[code, *_]):
            yield from texts(code)
        case ast.Call(func=ast.Attribute(attr="_add_defect"), args=[code, *_]):
            yield from texts(code)
        case ast.Call(func=ast.Name(id="_stop"), args=[_, code, *_]):
            yield from texts(code)
        case ast.Return(value=ast.Tuple(elts=[code, _])):
            yield from texts(code)
        case ast.Assign(targets=[ast.Name(id="code")], value=code) | ast.keyword(arg="code", value=code):
            yield from texts(code)


def emitted() -> set[str]:
    nodes = [node for file in FILES for node in ast.walk(ast.parse(file.read_text()))]
    return {code for node in nodes for code in codes_in(node) if code and not code.startswith("truth_")}


def test_the_search_finds_codes_of_every_kind() -> None:
    assert {
        "empty",
        "line_too_long",
        "missing_image",
        "not_a_number",
        "unknown_label",
        "unknown_image",
        "bad_mask",
        "bad_json",
    } <= emitted()


def test_every_code_has_advice() -> None:
    assert emitted() - set(ADVICE) == set()


def test_all_advice_is_for_codes_that_the_evaluator_emits() -> None:
    assert set(ADVICE) - emitted() == set()
