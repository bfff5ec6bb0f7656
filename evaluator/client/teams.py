"""Implements ``podium team``, which shows and changes the user's team in a challenge."""

from argparse import ArgumentTypeError
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser
from evaluator.client.errors import NotUsable, Refused
from evaluator.client.verb import Session, Verb, add_challenge, table
from evaluator.problems import visible

MEMBERS = ("user", "captain", "joined_at")
SENT = ("id", "kind", "user", "expires_at")
RECEIVED = ("id", "kind", "team", "expires_at")
ACTIONS = {
    "show": "your team, its members and open invitations (default)",
    "invite": "invite USER; without a USER, print a link that lets one person join",
    "accept": "accept the invitation, or the request to join your team, with this ID",
    "decline": "decline or withdraw the invitation or request with this ID",
    "leave": "leave your team",
}


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium team`` to its parser."""
    add_challenge(parser)
    meanings = "; ".join(f"{name}: {meaning}" for name, meaning in ACTIONS.items())
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="show", metavar="ACTION", help=meanings)
    parser.add_argument(
        "who",
        nargs="?",
        type=_text,
        metavar="USER or ID",
        help="the username to invite, or the ID of the invitation or request to answer",
    )
    parser.add_argument(
        "--accept-rules", action="store_true", help="with accept: confirm that you have read and accept the rules"
    )
    parser.add_argument("--yes", action="store_true", help="with leave: confirm that you want to leave")


def _text(argument: str) -> str:
    """Return a command-line argument unchanged. Raises ArgumentTypeError if it is empty."""
    if not argument.strip():
        raise ArgumentTypeError("a name or id must not be empty")
    return argument


def team(session: Session) -> int:
    """Show or change the user's team in a challenge."""
    arguments = session.arguments
    if arguments.who and arguments.action in ("show", "leave"):
        raise NotUsable(
            f"`podium team CHALLENGE {arguments.action}` takes no further argument; remove {arguments.who!r}"
        )
    path = f"challenges/{session.challenge(arguments.challenge)['slug']}"
    changes = {"show": show, "invite": invite, "accept": answer, "decline": answer, "leave": leave}
    changes[arguments.action](session, path)
    return Exit.DONE


def show(session: Session, path: str) -> None:
    """Print the user's team with its members and open invitations, and the invitations that the user has received."""
    try:
        own = session.api.get(f"{path}/team")
    except Refused as refusal:
        if refusal.code != "not_a_member":
            raise
        own = None
    received = list(session.api.pages(f"{path}/invitations"))
    session.print({"team": own, "received": received}, lambda: _lines(own, received))


def _lines(own: dict[str, Any] | None, received: list[dict[str, Any]]) -> Iterator[str]:
    if own is None:
        yield "You have no team in this challenge. Run `podium join CHALLENGE`, or accept an invitation."
    else:
        yield f"Team {visible(own['team'])}{', and you are its captain' if own['captain'] else ''}"
        yield from table(own["members"], MEMBERS)
        if own["invitations"]:
            yield "\nTeam invitations and requests"
            yield from table(own["invitations"], SENT)
    if received:
        yield "\nInvitations that you have received, and your requests"
        yield from table(received, RECEIVED)


def invite(session: Session, path: str) -> None:
    """Invite a user by username. Without a username, print a link that one user can follow to join the team."""
    user = session.arguments.who
    made = session.api.post(f"{path}/team/invitations", {"user": user} if user else {})
    text = f"{visible(user)} is invited to {visible(made['team'])}." if user else str(made["link"])
    session.print(made, lambda: [text])


def answer(session: Session, path: str) -> None:
    """Accept, decline or withdraw an invitation or a request to join a team."""
    arguments = session.arguments
    if not (arguments.who or "").isdecimal():
        raise NotUsable(f"give the id of an invitation; `podium team {arguments.challenge}` lists them")
    is_accepted = arguments.action == "accept"
    body = {"accept": is_accepted} | ({"accept_rules": True} if arguments.accept_rules else {})
    closed = session.api.post(f"{path}/invitations/{arguments.who}", body)
    text = "Accepted. The team is" if is_accepted else "Declined or withdrawn:"
    session.print(closed, lambda: [f"{text} {visible(closed['team'])}."])


def leave(session: Session, path: str) -> None:
    """Leave the team. Raises NotUsable unless the user has given the ``--yes`` option."""
    if not session.arguments.yes:
        raise NotUsable(
            "if your team has already submitted, you will not be able to join another team; to leave, add --yes"
        )
    user = session.api.get("me")["username"]
    session.api.send("DELETE", f"{path}/team/members/{quote(user, safe='')}")
    session.print({"left": True}, lambda: ["You have left your team."])


VERBS = {"team": Verb(declare, team)}
