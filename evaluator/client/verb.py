"""Code shared by the commands that use a server: arguments, connection, error messages, and text or JSON output."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluator.cli.exits import Exit
from evaluator.cli.output import TextStyle, write_json
from evaluator.cli.usage import Parser, add_json, suggestion
from evaluator.client import servers
from evaluator.client.errors import NotUsable, Refused, TryLater
from evaluator.client.http import Api
from evaluator.problems import visible

ApiFactory = Callable[[str, str], Api]
NO_TOKEN = "you are not logged in; run `podium login {server}`, or set PODIUM_TOKEN"
BAD_TOKEN = "the server does not accept your token, which may have expired or been revoked; run `podium login {server}`"
NO_TEAM = "you have not joined this challenge yet; run `podium join {challenge}`"


class Session:
    """The context of a command: its arguments, the API of the chosen server, and functions for output."""

    def __init__(self, arguments: Namespace, connect: ApiFactory = Api) -> None:
        self.arguments, self.connect = arguments, connect

    @cached_property
    def server(self) -> str:
        """The URL of the server that the user has chosen or last logged in to."""
        return servers.chosen(self.arguments.server)

    @cached_property
    def api(self) -> Api:
        """A client for the API of the chosen server. It uses the token in PODIUM_TOKEN or the stored token, if any."""
        return self.connect(self.server, servers.token_of(self.server))

    def phase_of(self, challenge: str, phase: str | None) -> tuple[dict[str, Any], str]:
        """Return the data of a phase, and the API path of its resources.

        If no phase is given, the only open phase is used or, if none is open, the only phase of the challenge.
        """
        found = self.challenge(challenge)
        phases = {one["slug"]: one for one in found["phases"]}
        if phase is None:
            candidates = [slug for slug, one in phases.items() if one["open"]] or list(phases)
            if len(candidates) != 1:
                raise NotUsable(f"choose a phase with --phase: {', '.join(map(visible, candidates))}")
            phase = candidates[0]
        if phase not in phases:
            raise NotUsable(f"{visible(found['slug'])} has no phase {phase!r}{suggestion(phase, phases)}")
        return phases[phase], f"challenges/{found['slug']}/phases/{phase}"

    def challenge(self, slug: str) -> dict[str, Any]:
        """Return the data of a challenge. If it does not exist, raise NotUsable and suggest a similar name."""
        names = slug if slug.replace("-", "").replace("_", "").isalnum() and slug.isascii() else ""
        try:
            if names:
                return dict(self.api.get(f"challenges/{names}"))
        except Refused as refusal:
            if refusal.status != 404:
                raise
        known = [one["slug"] for one in self.api.pages("challenges")]
        raise NotUsable(f"there is no challenge {slug!r} that you can see{suggestion(slug, known)}")

    def print(self, answer: Any, lines: Callable[[], Iterable[str]]) -> None:
        """Print lines of text or, if ``--json`` is given, the data as JSON."""
        if write_json(answer, to=self.arguments.json):
            for line in lines():
                print(line)


@dataclass(frozen=True, slots=True)
class Verb:
    """A command that uses a server: a function that declares its arguments, and a function that runs it."""

    declare_own: Callable[[Parser], None]
    act: Callable[[Session], int]

    def declare(self, parser: Parser) -> None:
        """Add the arguments of this command to its parser, and the --server and --json options."""
        self.declare_own(parser)
        parser.add_argument("--server", metavar="URL", help="the server (default: PODIUM_SERVER, or the last login)")
        add_json(parser)

    def run(self, arguments: Namespace, connect: ApiFactory = Api) -> int:
        """Run the command and return its exit code."""
        session = Session(arguments, connect)
        return guarded(session, lambda: self.act(session))


def guarded(session: Session, act: Callable[[], int]) -> int:
    """Call a function and return its exit code. If the function raises NotUsable or Refused, print the reason."""
    try:
        return act()
    except NotUsable as error:
        write_json({"error": {"code": "wrong_usage", "detail": str(error)}}, to=session.arguments.json)
        print(f"podium: {visible(str(error))}", file=sys.stderr)
        return Exit.WRONG_USAGE
    except Refused as refusal:
        write_json({"error": refusal.problem}, to=session.arguments.json)
        print(f"podium: {message_of(refusal, session)}", file=sys.stderr)
        return Exit.TRY_AGAIN_LATER if isinstance(refusal, TryLater) else Exit.REFUSED


def message_of(refusal: Refused, session: Session) -> str:
    """Return the message to print for a rejected request.

    If the user has to log in or join the challenge first, the message contains the command to run. Otherwise, it
    contains the server's description of the error.
    """
    text = visible(str(refusal))
    if refusal.code == "unauthenticated":
        return (BAD_TOKEN if servers.token_of(session.server) else NO_TOKEN).format(server=session.server)
    if refusal.code == "not_a_member" and "challenge" in session.arguments:
        text = NO_TEAM.format(challenge=visible(session.arguments.challenge))
    if refusal.code == "duplicate_file" and "submission" in refusal.problem:
        text += f"\n{session.server}/submissions/{visible(str(refusal.problem['submission']))}/"
    return text if refusal.code in ("unreachable", "redirect", "http_error") else f"{text} ({visible(refusal.code)})"


def table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterable[str]:
    """Yield the lines of a table. Columns are aligned on a terminal, and separated by tabs in other output."""
    cells = [[visible(_text(row.get(name))) for name in columns] for row in rows]
    if not sys.stdout.isatty():
        yield "\t".join(columns)
        yield from ("\t".join(row) for row in cells)
        return
    widths = [max(len(name), *(len(row[index]) for row in cells), 0) for index, name in enumerate(columns)]
    style = TextStyle(sys.stdout)
    yield style.bold("  ".join(name.ljust(width) for name, width in zip(columns, widths, strict=True)).rstrip())
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.5f}"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def add_challenge(parser: Parser) -> None:
    """Add the positional argument CHALLENGE to a parser."""
    parser.add_argument("challenge", metavar="CHALLENGE", help="name of the challenge, as in its URL")


def add_phase(parser: Parser) -> None:
    """Add the positional argument CHALLENGE and the --phase option to a parser."""
    add_challenge(parser)
    parser.add_argument("--phase", metavar="PHASE", help="name of the phase (default: the only open one)")
