"""Implements ``podium login``, ``logout`` and ``whoami``."""

import os
import sys
import webbrowser
from getpass import getpass
from platform import node
from typing import Any

from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser
from evaluator.client import servers
from evaluator.client.errors import NotUsable, Refused
from evaluator.client.http import Api
from evaluator.client.verb import Session, Verb
from evaluator.problems import visible

SCOPES = ("read", "submit", "organize")
NAME_CHARACTERS = 80


def declare_login(parser: Parser) -> None:
    """Add the arguments of ``podium login`` to its parser."""
    parser.add_argument("url", nargs="?", metavar="URL", help="address of the server")
    parser.add_argument(
        "--token", action="store_true", help="read a token from the terminal instead; create one on your account page"
    )
    parser.add_argument(
        "--scope", choices=SCOPES, default="submit", help="what the token can be used for (default: submit)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the URL instead of opening a browser")


def login(session: Session) -> int:
    """Log in to a server and store the token.

    The token is read from the terminal, or issued after the user approves the login in the browser.
    """
    arguments = session.arguments
    server = servers.normalized(arguments.url) if arguments.url else session.server
    if server.startswith("http://") and server.split("/")[2].rpartition(":")[0] not in servers.LOCAL:
        print("podium: this connection is not encrypted, so others might be able to read your token", file=sys.stderr)
    if arguments.token:
        secret = (getpass("Token: ") if sys.stdin.isatty() else sys.stdin.readline()).strip()
    else:
        server, secret = by_device_code(session, server)
    me = session.connect(server, secret).get("me")
    path = servers.remember(server, secret)
    session.print(
        {"server": server, **me},
        lambda: [f"Logged in to {server} as {visible(me['username'])}. The token is in {path}."],
    )
    return Exit.DONE


def by_device_code(session: Session, server: str) -> tuple[str, str]:
    """Log in with a code that the user approves in the browser. Return the URL of the server and the token."""
    asked = {"name": f"podium on {visible(node()) or 'a computer'}"[:NAME_CHARACTERS], "scope": session.arguments.scope}
    api = session.connect(server, "")
    try:
        started = api.post("device/code", asked)
    except Refused as refusal:
        secure = "https" + server.removeprefix("http")
        if refusal.code != "redirect" or not str(refusal.problem["location"]).startswith(f"{secure}/"):
            raise
        server, api = secure, session.connect(secure, "")
        started = api.post("device/code", asked)
    page, code = visible(started["verification_uri_complete"]), visible(started["user_code"])
    print(f"Open {page}\nand approve the code {code}", file=sys.stderr)
    if not session.arguments.no_browser and has_browser():
        webbrowser.open(page)
    return server, wait_for_token(api, started)


def wait_for_token(api: Api, started: dict[str, Any]) -> str:
    """Request the token repeatedly until the user has approved the code, and return the token.

    Raises Refused if the user denies the login, or if the code has expired.
    """
    interval = float(started["interval"])
    while True:
        api.sleep(interval)
        try:
            return str(api.post("device/token", {"device_code": started["device_code"]})["access_token"])
        except Refused as refusal:
            if refusal.code == "slow_down":
                interval += 5
            elif refusal.code != "authorization_pending":
                raise


def has_browser() -> bool:
    """Return whether a graphical browser can be opened. Text browsers are excluded: they would occupy the terminal."""
    if not sys.stderr.isatty() or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def nothing(parser: Parser) -> None:
    """Add no arguments to a parser. This function is used for commands that have no arguments of their own."""


def logout(session: Session) -> int:
    """Revoke the token of this machine on the server, and delete the stored token."""
    if os.environ.get("PODIUM_TOKEN"):
        raise NotUsable(
            "the token comes from the environment variable PODIUM_TOKEN; unset the variable, and revoke the token "
            "on your account page"
        )
    revoked = False
    try:
        if servers.token_of(session.server):
            session.api.send("DELETE", "me/token")
            revoked = True
    except Refused as refusal:
        if refusal.code != "unauthenticated":
            raise
    servers.forget(session.server)
    answer = {"server": session.server, "revoked": revoked}
    session.print(answer, lambda: [f"Logged out of {session.server}."])
    return Exit.DONE


def whoami(session: Session) -> int:
    """Print the name of the user who is logged in, and the scope and expiry of the token."""
    me = session.api.get("me")
    token = me["token"]
    session.print(
        {"server": session.server, **me},
        lambda: [
            f"{visible(me['username'])} at {session.server}",
            f"token {visible(token['name'])!r}, scope {token['scope']}, expires {token['expires_at']}",
        ],
    )
    return Exit.DONE


VERBS = {"login": Verb(declare_login, login), "logout": Verb(nothing, logout), "whoami": Verb(nothing, whoami)}
