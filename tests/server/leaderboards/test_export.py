"""A leaderboard exported as CSV keeps every digit and contains no cell that a spreadsheet would execute."""

import csv
import re
from datetime import UTC, datetime
from io import StringIO

import pytest

from server.leaderboards.compared import RankInterval
from server.leaderboards.export import as_csv, harmless
from server.leaderboards.queries import BoardRow

AT = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)


def row(team: str, score: float, **fields: object) -> BoardRow:
    return BoardRow(
        **{  # type: ignore[arg-type]
            **{"rank": 1, "team": team, "team_id": 1, "score": score, "interval": None, "scores": {"score": score}},
            **{"entries": 3, "submitted_at": AT, "baseline": False, "evaluation_id": 1, **fields},
        }
    )


def cells(*rows: BoardRow, metrics: tuple[str, ...] = ("score", "recall@50")) -> list[list[str]]:
    text = "".join(as_csv([rows], metrics=list(metrics)))
    return list(csv.reader(StringIO(text, newline="")))


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@SUM(A1)", "  =1", "＝1+1", '=HYPERLINK("http://example.org")', '"=1"', "\tA", "\rA"]
)
def test_a_name_that_a_spreadsheet_would_run_is_quoted(name: str) -> None:
    assert harmless(name) == f"'{name}"
    assert cells(row(name, 0.5))[1][1] == f"'{name}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Owls;=1+1", "Owls;'=1+1"),
        ("Owls\t@SUM(A1)", "Owls\t'@SUM(A1)"),
        ('Owls; "=1+1";-1', "Owls;' \"=1+1\";'-1"),
        ("Owls|=1\n+1", "Owls|'=1\n'+1"),
        ("\t=1", "'\t'=1"),
    ],
)
@pytest.mark.parametrize("separators", [",", ";", "\t", "|", ";,", "\t;,|\r\n"])
def test_no_part_of_a_name_is_run_if_a_line_is_divided_at_other_characters(
    separators: str, name: str, expected: str
) -> None:
    assert cells(row(name, 0.5))[1][1] == expected
    text = "".join(as_csv([[row(name, 0.5)]], metrics=["score"]))
    for cell in re.split(f"[{separators}]", text):
        assert not cell.strip(' "').startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize(
    "name", ["A=1", "A; B=1", "well-known; A-B", "Team", "3 Bears", "'quoted'", "سباق", "a,b", 'say "hi"', "two\nlines"]
)
def test_any_other_name_is_exported_unchanged(name: str) -> None:
    assert cells(row(name, 0.5))[1][1] == name


@pytest.mark.parametrize("score", [0.1 + 0.2, 1 / 3, 5e-324, 1.0, 0.0])
def test_a_score_keeps_every_bit(score: float) -> None:
    assert float(cells(row("A", score))[1][2]) == score


def test_a_row_has_all_columns_and_an_undefined_metric_is_empty() -> None:
    ranks = RankInterval(1, 3, individual=False, at=AT)
    scores = {"score": 0.5, "recall@50": None}
    header, line = cells(row("A", 0.5, interval=(0.4, 0.6), scores=scores, rank_interval=ranks))
    assert header == [
        *["rank", "team", "score", "low", "high", "recall@50", "entries", "submitted_at", "baseline"],
        *["rank_low", "rank_high", "rank_individual"],
    ]
    assert line == ["1", "A", "0.5", "0.4", "0.6", "", "3", "2026-05-01T12:30:00Z", "false", "1", "3", "false"]


def test_a_baseline_has_no_rank() -> None:
    line = cells(row("Prior", 0.5, rank=None, baseline=True))[1]
    assert (line[0], line[-4:]) == ("", ["true", "", "", ""])


def test_an_empty_leaderboard_is_exported_as_its_header() -> None:
    assert len(cells()) == 1
