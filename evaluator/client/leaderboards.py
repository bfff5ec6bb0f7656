"""Implements ``podium leaderboard``."""

import json
import sys
from typing import Any

from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser, positive
from evaluator.client.verb import Session, Verb, add_phase, table

FORMATS = ("table", "csv", "json")
COLUMNS = ("rank", "team", "score", "interval", "entries", "submitted_at")


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium leaderboard`` to its parser."""
    add_phase(parser)
    parser.add_argument("-f", "--format", choices=FORMATS, default="table", help="table (default), csv or json")
    parser.add_argument("--search", default="", metavar="TEXT", help="only teams whose name contains TEXT")
    parser.add_argument(
        "--country",
        default="",
        metavar="CODE",
        help="only teams with a publicly named member from this country",
    )
    parser.add_argument(
        "--split",
        choices=("public", "private"),
        help="which leaderboard to print (default: the one shown on the website)",
    )
    parser.add_argument(
        "--page", type=positive, default=1, metavar="N", help="page number; only for the formats table and json"
    )


def leaderboard(session: Session) -> int:
    """Print a leaderboard: one page as a table or JSON, or all entries as CSV."""
    arguments = session.arguments
    _, path = session.phase_of(arguments.challenge, arguments.phase)
    query = {name: value for name in ("search", "country", "split") if (value := getattr(arguments, name))}
    if arguments.format == "csv" and arguments.json is None:
        about: dict[str, Any] = {"params": {**query, "format": "csv"}, "headers": {"Accept": "text/csv"}}
        sys.stdout.write(session.api.send("GET", f"{path}/leaderboard", **about).text)
        return Exit.DONE
    found = session.api.get(f"{path}/leaderboard", page=arguments.page, **query)
    if arguments.format == "json" and arguments.json is None:
        print(json.dumps(found))
        return Exit.DONE
    session.print(found, lambda: table([_row(one) for one in found["results"]], COLUMNS))
    if found["next"]:
        print(f"podium: to see more teams, add --page {arguments.page + 1}", file=sys.stderr)
    return Exit.DONE


def _row(entry: dict[str, Any]) -> dict[str, Any]:
    interval = entry["interval"]
    return {**entry, "interval": interval and f"{interval[0]:.5f} to {interval[1]:.5f}"}


VERBS = {"leaderboard": Verb(declare, leaderboard)}
