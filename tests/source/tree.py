"""Lists the files of the project and parses their syntax trees."""

import ast
import os
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {"build", "node_modules", "podium.egg-info", "var", "__pycache__"}
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def every_file() -> tuple[Path, ...]:
    """Return all files of the project, relative to its root, except installed, generated and cached files."""
    found = []
    for folder, inner, names in os.walk(ROOT):
        inner[:] = [name for name in inner if name not in GENERATED and not name.startswith(".")]
        found += [Path(folder, name).relative_to(ROOT) for name in names]
    return tuple(sorted(found))


def files(*patterns: str) -> list[Path]:
    """Return the files that match at least one of the patterns, in which `*` also matches slashes."""
    return [path for path in every_file() if any(fnmatch(path.as_posix(), pattern) for pattern in patterns)]


def lines_of(path: Path) -> int:
    return (ROOT / path).read_bytes().count(b"\n")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


def functions(folder: str) -> Iterator[tuple[Path, FunctionNode]]:
    """Yield every function and method in a folder, including nested ones."""
    for path in files(f"{folder}/*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, FunctionNode):
                yield path, node


def is_fixture(function: FunctionNode) -> bool:
    return any(ast.unparse(decorator).startswith("pytest.fixture") for decorator in function.decorator_list)
