"""Implements ``podium submit``, ``submissions`` and ``submission``."""

import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from evaluator.cli.exits import Exit
from evaluator.cli.usage import Parser, existing_file
from evaluator.client.errors import NotUsable, Refused
from evaluator.client.uploading import Upload
from evaluator.client.verb import Session, Verb, add_phase, table
from evaluator.client.waiting import bar, report, wait

COLUMNS = ("id", "file_name", "received_at", "status", "rank", "score", "note")


def declare_submit(parser: Parser) -> None:
    """Add the arguments of ``podium submit`` to its parser."""
    add_phase(parser)
    parser.add_argument("-f", "--file", required=True, type=existing_file, metavar="FILE", help="the submission")
    parser.add_argument("-m", "--message", default="", metavar="NOTE", help="a note, visible to your team only")
    parser.add_argument("--wait", action="store_true", help="wait for the score; exit with 0 only if there is a score")
    parser.add_argument(
        "--force", action="store_true", help="score the file even if no prediction in it can earn a score"
    )


def submit(session: Session) -> int:
    """Upload a file and print the status of the new submission. An interrupted upload of the same file is resumed."""
    arguments = session.arguments
    phase, path = session.phase_of(arguments.challenge, arguments.phase)
    refuse_large(arguments.file, phase)
    try:
        with bar(arguments.file.stat().st_size, unit="bytes") as show:
            upload = Upload(
                session.api,
                path,
                arguments.file,
                note=arguments.message,
                force=arguments.force,
                advance=lambda done: show(done, "uploading"),
            )
            identifier = upload.run()
    except KeyboardInterrupt:
        print("\npodium: interrupted; run the same command again to continue the upload", file=sys.stderr)
        raise
    found = state_of(session, identifier)
    if found["sha256"] != upload.sha256:
        raise NotUsable(
            f"{arguments.file} was changed during the upload; submission {identifier} differs from the file on this "
            "machine"
        )
    return report(session, found)


def refuse_large(file: Path, phase: dict[str, Any]) -> None:
    """Raise Refused if a file exceeds the server's size limit. The file is not read."""
    size, allowed = file.stat().st_size, phase.get("limits", {}).get("upload_bytes")
    if allowed is not None and size > allowed:
        detail = f"{file} is {size:,} bytes long; at most {allowed:,} are allowed. Compress it with gzip."
        raise Refused(413, {"code": "file_too_large", "detail": detail})


def submissions(session: Session) -> int:
    """Print the submissions of the user's team, newest first."""
    phase, path = session.phase_of(session.arguments.challenge, session.arguments.phase)
    found = list(session.api.pages(f"{path}/submissions"))
    rows = [{**one, "score": one["scores"].get("public", {}).get(phase["headline"])} for one in found]
    session.print({"submissions": found}, lambda: table(rows, COLUMNS))
    return Exit.DONE


def identifier(text: str) -> str:
    """Convert a command-line argument to the id of a submission."""
    try:
        return str(UUID(text))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not the id of a submission; `podium submissions` lists them") from None


def declare_submission(parser: Parser) -> None:
    """Add the arguments of ``podium submission`` to its parser."""
    parser.add_argument("id", type=identifier, metavar="ID", help="id of the submission")
    parser.add_argument("--wait", action="store_true", help="wait for the score")


def submission(session: Session) -> int:
    """Print the status of a submission, and its scores or defects."""
    try:
        return report(session, state_of(session, session.arguments.id))
    except Refused as refusal:
        if refusal.status != httpx.codes.NOT_FOUND:
            raise
        detail = f"there is no submission {session.arguments.id} that you can see; `podium submissions` lists yours"
        raise Refused(refusal.status, {**refusal.problem, "detail": detail}) from None


def state_of(session: Session, wanted: str) -> dict[str, Any]:
    """Return the data of a submission. With ``--wait``, wait until its evaluation is finished."""
    if not session.arguments.wait:
        return dict(session.api.get(f"submissions/{wanted}"))
    try:
        return wait(session.api, wanted)
    except KeyboardInterrupt:
        print(
            f"\npodium: the server is still scoring; run `podium submission {wanted} --wait` to wait again",
            file=sys.stderr,
        )
        raise


VERBS = {
    "submit": Verb(declare_submit, submit),
    "submissions": Verb(add_phase, submissions),
    "submission": Verb(declare_submission, submission),
}
