"""Each rule is implemented once, and files and folders do not exceed their size limits."""

import ast
import re
from collections import Counter
from pathlib import Path

from tests.source.tree import ROOT, files, functions, lines_of, tree_of

SHORT_LINES = 15
SHORT_FILES_LIMIT = 10
ENTRIES_LIMIT = 12
SCROLLS = re.compile(r"<div class=\"table-scroll[^>]*>")
BAGS = {"arrays", "texts", "flags"}
LEASES = "server/submissions/services/leases.py"


def server_files() -> list[Path]:
    return [path for path in files("server/*.py", "worker/*.py") if "migrations" not in path.parts]


def test_at_most_ten_files_are_very_short() -> None:
    """Files named `__init__.py`, migrations and templates may be short. Templates are often small parts of pages."""
    counted = [path for path in files("*.py", "*.js", "*.css") if "migrations" not in path.parts]
    short = [path for path in counted if path.name != "__init__.py" and lines_of(path) < SHORT_LINES]
    assert len(short) <= SHORT_FILES_LIMIT, short


def test_folders_of_tracks_and_kernels_have_at_most_twelve_entries() -> None:
    entries: dict[Path, set[str]] = {}
    for path in files("evaluator/tracks/*", "evaluator/kernels/*"):
        for child in (path, *path.parents):
            if len(child.parts) > 2:
                entries.setdefault(child.parent, set()).add(child.name)
    assert len(entries) > 10
    assert {str(folder): len(names) for folder, names in entries.items() if len(names) > ENTRIES_LIMIT} == {}


def is_truth_class(node: ast.ClassDef) -> bool:
    """Return whether a class holds ground truth, or is a descriptor that reads attributes of such a class."""
    return node.name.endswith("Truth") or node.name.startswith("Stored")


def accesses_by_key(node: ast.AST, *, inside: bool = False) -> list[str]:
    """Return all accesses to a ground truth by key, such as `truth.arrays["boxes"]`, outside its own class."""
    found = []
    for child in ast.iter_child_nodes(node):
        within = inside or (isinstance(child, ast.ClassDef) and is_truth_class(child))
        if not within and isinstance(child, ast.Subscript | ast.Attribute):
            owner = child.value
            is_get = isinstance(child, ast.Attribute) and child.attr == "get"
            if (is_get or isinstance(child, ast.Subscript)) and isinstance(owner, ast.Attribute):
                is_key = is_get or not isinstance(child.slice, ast.BinOp | ast.Slice)
                found += [ast.unparse(child)] if owner.attr in BAGS and is_key else []
        found += accesses_by_key(child, inside=within)
    return found


def test_accesses_by_key_are_found() -> None:
    source = 'truth.arrays["a"]\nclass ATruth:\n    def a(self): return self.arrays["a"]\ntruth.flags.get("b")\nx["a"]'
    assert accesses_by_key(ast.parse(source)) == ["truth.arrays['a']", "truth.flags.get"]


def test_a_truth_is_read_by_its_members_outside_its_class() -> None:
    found = {str(path): accesses_by_key(tree_of(path)) for path in files("evaluator/*.py", "worker/*.py")}
    assert {path: keys for path, keys in found.items() if keys} == {}


def test_what_ladder_feedback_shows_is_decided_by_one_condition() -> None:
    """In phases with ladder feedback, only the function `is_visible` decides which scores participants may see."""
    condition = re.compile(r"published\s*=\s*(models\.)?F\(")
    found = Counter(str(path) for path in server_files() for _ in condition.findall((ROOT / path).read_text()))
    assert found == {"server/submissions/models/evaluation.py": 1}


def test_leases_are_written_by_one_module() -> None:
    """Only `leases.py` writes the two columns for the lease on a job. Other modules may use them only in filters."""
    written = re.compile(r"(\"lease_(?:token|until)\"\s*:|update\([^)]*lease_(?:token|until)\s*=)")
    assert {str(path) for path in server_files() if written.search((ROOT / path).read_text())} == {LEASES}


def test_each_lease_function_is_defined_once() -> None:
    """Submissions and reruns share the lease functions in `leases.py`; their own modules do not redefine them."""
    names: dict[str, set[str]] = {}
    for path, function in functions("server/submissions/services"):
        names.setdefault(path.name, set()).add(function.name)
    assert {"claim", "prolong", "finish", "release"} <= names["leases.py"]
    assert names["leases.py"] & (names["lifecycle.py"] | names["reruns.py"]) == set()


def test_each_table_that_scrolls_is_reached_with_the_keyboard() -> None:
    """Each region that scrolls can be reached with the keyboard, because its table may be wider than the page."""
    regions = [tag for path in files("server/templates/*.html") for tag in SCROLLS.findall((ROOT / path).read_text())]
    assert regions
    assert [tag for tag in regions if 'tabindex="0" role="region" aria-label' not in tag] == []
