"""Implements ``podium download`` and ``podium kit``, and fetches the check kit for ``podium check --challenge``.

A check kit is a file that participants use to check submissions on their own computers.
"""

from argparse import Namespace
from pathlib import Path

import httpx

from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser, existing_folder, new_file
from evaluator.client.errors import NotUsable, Refused
from evaluator.client.http import Api
from evaluator.client.verb import ApiFactory, Session, Verb, add_phase, guarded


def declare_download(parser: Parser) -> None:
    """Add the arguments of ``podium download`` to its parser."""
    add_phase(parser)
    parser.add_argument("--out", type=existing_folder, default=Path(), metavar="DIR", help="folder (default: current)")


def download(session: Session) -> int:
    """Download the template submission of a phase and, if the phase has one, the list of all possible answers.

    A template submission contains every image and no predictions.
    """
    arguments = session.arguments
    phase, path = session.phase_of(arguments.challenge, arguments.phase)
    written = []
    for resource in ("template", "candidates"):
        try:
            response = session.api.send("GET", f"{path}/{resource}")
        except Refused as refusal:
            if refusal.status != httpx.codes.NOT_FOUND:
                raise
            continue
        kind = "json" if "json" in response.headers.get("Content-Type", "") else "csv"
        name = f"{path.split('/')[1]}-{phase['slug']}-{resource}.{kind}"
        (arguments.out / name).write_bytes(response.content)
        written.append(str(arguments.out / name))
    if not written:
        raise NotUsable("this phase has no files to download; see the data page: podium open CHALLENGE data")
    session.print({"files": written}, lambda: written)
    return Exit.DONE


def declare_kit(parser: Parser) -> None:
    """Add the arguments of ``podium kit`` to its parser."""
    add_phase(parser)
    parser.add_argument("--out", type=new_file, metavar="FILE", help="file to write (default: podium-kit.json)")


def kit(session: Session) -> int:
    """Download a phase's check kit, which lets ``podium check --kit`` find the same defects as the server."""
    arguments = session.arguments
    target = arguments.out or Path("podium-kit.json")
    target.write_bytes(_kit_of(session, arguments.challenge, arguments.phase))
    session.print({"files": [str(target)]}, lambda: [str(target)])
    return Exit.DONE


def fetch_kit(arguments: Namespace, target: Path, connect: ApiFactory = Api) -> int:
    """Download the check kit for ``podium check --challenge`` to ``target``, and return the exit code.

    A check kit is a file that participants use to check submissions on their own computers.
    """
    session = Session(arguments, connect)

    def fetch() -> int:
        target.write_bytes(_kit_of(session, arguments.challenge, arguments.phase))
        return Exit.DONE

    return guarded(session, fetch)


def _kit_of(session: Session, challenge: str, phase: str | None) -> bytes:
    _, path = session.phase_of(challenge, phase)
    try:
        return session.api.send("GET", f"{path}/kit").content
    except Refused as refusal:
        if refusal.status != httpx.codes.NOT_FOUND:
            raise
        raise NotUsable("the check kit of this phase is not ready yet; try again in a minute") from None


VERBS = {"download": Verb(declare_download, download), "kit": Verb(declare_kit, kit)}
