"""Tests that the documents mention only existing files, functions, commands and make targets."""

import re
from pathlib import Path

import pytest

from tests.source.tree import ROOT, files

DOCUMENTS = [path for path in files("*.md") if path.name in ("README.md", "CONTRIBUTING.md")]
FILE = re.compile(r"(?<![\w/<.])([\w.-]+(?:/[\w.-]+)*\.(?:py|html|js|css|md))\b(?::(\w+(?:\.\w+)?))?")
# CONTRIBUTING.md uses evaluator/tracks/digits.py in its example of a new track. The file does not exist.
EXAMPLES = {"evaluator/tracks/digits.py"}


def every_path() -> set[str]:
    return {str(path) for path in files("*")}


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_files_and_functions_that_a_document_names_exist(document: Path) -> None:
    paths, missing = every_path(), []
    for name, function in FILE.findall((ROOT / document).read_text()):
        inner = re.sub(r"^(\.\./)+", "", name)
        found = [path for path in paths if path == inner or path.endswith(f"/{inner}")]
        if not found and inner not in EXAMPLES:
            missing.append(name)
        elif function and not any(defines(path, function) for path in found):
            missing.append(f"{name}:{function}")
    assert missing == []


def defines(path: str, function: str) -> bool:
    text = (ROOT / path).read_text()
    return all(
        re.search(rf"^\s*(?:def|class) {name}\b|^{name}\b.* = ", text, re.MULTILINE) for name in function.split(".")
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_commands_that_a_document_names_exist(document: Path) -> None:
    text = (ROOT / document).read_text()
    commands = {path.stem for path in files("server/*/management/commands/*.py")}
    commands |= {"check", "createsuperuser", "makemigrations", "migrate"}
    assert set(re.findall(r"manage\.py (\w+)", text)) <= commands
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make (\w+)|^make (\w+)", text, re.MULTILINE)) <= {(one, "") for one in targets} | {
        ("", one) for one in targets
    }
