"""Implements ``podium challenges``, ``phases``, ``join``, ``quota`` and ``open``."""

import webbrowser
from typing import Any

import httpx

from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser
from evaluator.client.accounts import has_browser, nothing
from evaluator.client.errors import NotUsable
from evaluator.client.verb import Session, Verb, add_challenge, add_phase, table
from evaluator.problems import visible

PAGES = ("overview", "data", "rules", "submit", "submissions", "leaderboard", "team")


def challenges(session: Session) -> int:
    """Print the challenges that the user can see."""
    found = list(session.api.pages("challenges"))
    session.print({"challenges": found}, lambda: table(found, ("slug", "title", "opens_at", "closes_at")))
    return Exit.DONE


def phases(session: Session) -> int:
    """Print the phases of a challenge."""
    found = session.challenge(session.arguments.challenge)["phases"]
    columns = ("slug", "title", "track", "headline", "open", "closes_at")
    session.print({"phases": found}, lambda: table(found, columns))
    return Exit.DONE


def declare_join(parser: Parser) -> None:
    """Add the arguments of ``podium join`` to its parser."""
    add_challenge(parser)
    parser.add_argument("--accept-rules", action="store_true", help="confirm that you have read and accept the rules")
    parser.add_argument("--team", metavar="NAME", help="name of your new team (default: your username)")


def join(session: Session) -> int:
    """Accept the rules of a challenge and join it."""
    slug = session.challenge(session.arguments.challenge)["slug"]
    if not session.arguments.accept_rules:
        page = f"{session.server}/challenges/{slug}/rules"
        raise NotUsable(f"read the rules at {page}; if you accept them, add --accept-rules")
    body = {"accept_rules": True} | ({"team": session.arguments.team} if session.arguments.team else {})
    response = session.api.send("POST", f"challenges/{slug}/join", json=body)
    joined = session.api.json_of(response)
    session.print(joined, lambda: [_joined(joined, already=response.status_code == httpx.codes.OK)])
    return Exit.DONE


def _joined(joined: dict[str, Any], *, already: bool) -> str:
    if joined.get("status") == "waiting" or "requested_at" in joined:
        return "Your request to join is waiting for approval by the organizers."
    have_joined = "had already joined" if already else "have joined"
    return f"You {have_joined} {visible(joined['challenge'])} in the team {visible(joined['team'])}."


def quota(session: Session) -> int:
    """Print how many files the user's team may still submit to a phase."""
    _, path = session.phase_of(session.arguments.challenge, session.arguments.phase)
    state = session.api.get(f"{path}/quota")
    session.print(state, lambda: _quota_lines(state))
    return Exit.DONE


def _quota_lines(state: dict[str, Any]) -> list[str]:
    lines = [
        f"{state['left']} of {state['per_day']} submissions left today (UTC); the quota resets at {state['resets_at']}"
    ]
    if state["total"] is not None:
        lines.append(f"{state['total_left']} of {state['total']} left in this phase")
    if state["reason"]:
        lines.append(visible(state["reason"]))
    if state["next_allowed_at"]:
        lines.append(f"next submission possible at {state['next_allowed_at']}")
    return lines


def declare_open(parser: Parser) -> None:
    """Add the arguments of ``podium open`` to its parser."""
    add_challenge(parser)
    parser.add_argument("page", nargs="?", choices=PAGES, default="overview", metavar="PAGE", help=", ".join(PAGES))


def open_page(session: Session) -> int:
    """Open a page of a challenge in the browser, and print the URL of the page."""
    slug = session.challenge(session.arguments.challenge)["slug"]
    page = "" if session.arguments.page == "overview" else session.arguments.page
    address = f"{session.server}/challenges/{slug}/{page}"
    if has_browser():
        webbrowser.open(address)
    session.print({"url": address}, lambda: [address])
    return Exit.DONE


VERBS = {
    "challenges": Verb(nothing, challenges),
    "phases": Verb(add_challenge, phases),
    "join": Verb(declare_join, join),
    "quota": Verb(add_phase, quota),
    "open": Verb(declare_open, open_page),
}
