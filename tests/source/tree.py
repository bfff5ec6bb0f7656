"""The tracked files of the project, and their syntax trees."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tracked(*patterns: str) -> tuple[Path, ...]:
    """Return the files that Git tracks and that exist, relative to the root, by their patterns."""
    found = subprocess.run(["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, check=True)
    names = found.stdout.decode().split("\0")
    return tuple(Path(name) for name in names if name and (ROOT / name).is_file())


def lines_of(path: Path) -> int:
    return (ROOT / path).read_bytes().count(b"\n")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text())


def functions(folder: str) -> Iterator[tuple[Path, FunctionNode]]:
    """Yield every function and method below a folder, nested ones too."""
    for path in tracked(f"{folder}/*.py"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, FunctionNode):
                yield path, node


def is_fixture(function: FunctionNode) -> bool:
    return any(ast.unparse(decorator).startswith("pytest.fixture") for decorator in function.decorator_list)
