"""No text contains a word that CONTRIBUTING.md forbids, or lacks a space between a word and a link or code."""

import re
from pathlib import Path

import pytest

from tests.source.tree import ROOT, files

TABLE = Path("CONTRIBUTING.md")
ROW = re.compile(r"^\| (?P<word>[^|]+) \| (?P<means>[^|]+) \| (?P<old>[^|]+) \|$", re.MULTILINE)
TEXTS = ("*.py", "*.md", "*.html", "*.txt", "*.js", "*.css", "*.yml", "*.toml", "Makefile", ".env.example")
# Django defines the names `streaming` and `streaming_content`, so they are allowed although they contain a forbidden
# word.
ALLOWED = re.compile(r"\.streaming(_content)?\b")


def table() -> str:
    """Return the word table of CONTRIBUTING.md."""
    return (ROOT / TABLE).read_text().partition("## One word for one thing\n")[2].partition("\n## ")[0]


def old_words() -> list[str]:
    """Return the forbidden words: the third column of the word table in CONTRIBUTING.md."""
    cells = [row["old"] for row in ROW.finditer(table())][1:]
    return [word.strip() for cell in cells for word in cell.split(",") if word.strip("- –")]


def pattern_of(words: list[str]) -> re.Pattern[str]:
    """Return a pattern that matches each of the given words as a whole word.

    Words in backticks must match exactly. Other words match in upper and lower case, and across line breaks.
    """
    exact = [re.escape(word.strip("`")) for word in words if word.startswith("`")]
    phrases = [re.escape(word).replace(r"\ ", r"[\s#*]+") for word in words if not word.startswith("`")]
    return re.compile(rf"\b(?:{'|'.join(exact)})\b|(?<![A-Za-z])(?i:{'|'.join(phrases)})(?![A-Za-z])")


def found_in(text: str, pattern: re.Pattern[str]) -> list[tuple[int, str]]:
    """Return the line number and the text of each match of a pattern, except in names that ALLOWED matches."""
    allowed = {span for match in ALLOWED.finditer(text) for span in range(*match.span())}
    matches = [match for match in pattern.finditer(text) if match.start() not in allowed]
    return [(text.count("\n", 0, match.start()) + 1, match.group()) for match in matches]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# A mended truth", [(1, "mended")]),
        ("amend recommended", []),
        ("by_twin = 1", [(1, "twin")]),
        ("a\n# the file that\n# was sent", [(2, "file that\n# was sent")]),
        ("MOST = 3  # at most 3, the most", [(1, "MOST")]),
        ("MOST_DEFECTS", []),
        ("response.streaming_content", []),
        ("Streaming", [(1, "Streaming")]),
    ],
)
def test_old_words_are_found_as_whole_words(text: str, found: list[tuple[int, str]]) -> None:
    assert found_in(text, pattern_of(["mended", "twin", "file that was sent", "`MOST`", "streaming"])) == found


def test_no_text_has_an_old_word() -> None:
    words = old_words()
    assert {"mended", "surer", "`NOBODY`", "contest"} <= set(words)
    pattern, mine = pattern_of(words), Path(__file__).relative_to(ROOT)
    found = []
    for path in files(*TEXTS):
        if "migrations" in path.parts or path == mine:  # Migrations must not be edited, even to remove a word.
            continue
        text = (ROOT / path).read_text()
        if path == TABLE:
            text = text.replace(table(), "\n" * table().count("\n"))
        found += [f"{path}:{line}: {word!r}" for line, word in found_in(text, pattern)]
    assert found == []


ATTACHED = re.compile(r"</(?:a|code|strong|em)>\w|[\w.,:;]<(?:a|code|strong|em)[ >]")


def test_links_and_code_are_separated_from_words_by_a_space() -> None:
    assert ATTACHED.search('an <a href="#">API token</a>or a login')
    texts = {path: (ROOT / path).read_text() for path in files("server/templates/*.html")}
    assert [(path, match.group()) for path, text in texts.items() for match in ATTACHED.finditer(text)] == []
