"""Implements ``podium verify``, which checks the exported, signed results of a phase without a server."""

import json
from argparse import ArgumentTypeError, Namespace
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.cli.exits import Exit
from evaluator.cli.output import write_json
from evaluator.cli.progress import progress
from evaluator.cli.usage import (
    Parser,
    WrongUsage,
    add_json,
    add_threads,
    existing_file,
    existing_folder,
    existing_truth,
    seed,
)
from evaluator.problems import visible
from evaluator.request import Resources, TruthOptions
from evaluator.results import InvalidResults, Results
from evaluator.signing import EARLIER_KEYS, KEY, PUBLIC_KEY, InvalidSigned, Opened, OtherKey, check, opened
from evaluator.texts import counted

FILE_BYTES = 256 * 2**20  # Maximum size of a results file. The results of 100,000 teams take about 60 MB.
KEY_BYTES = 10_000
ANY_KEY = (
    "the key in the file, which shows that nobody has changed the file since it was signed, but not who signed it; "
    "to check that too, pass the server's key with --key"
)


@dataclass(slots=True)
class Findings:
    """The outcome of verifying exported results: what was checked, missing files, problems, and the exit code.

    ``checked`` maps each successful check to a description. ``missing`` lists leaderboard entries without a submission
    file.
    """

    checked: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    code: Exit = Exit.DONE

    def refuse(self, code: Exit, *problems: str) -> None:
        """Add problems to the outcome, if there are any. The first call that adds problems also sets the exit code."""
        if problems:
            self.problems += problems
            self.code = self.code or code


def declare(parser: Parser) -> None:
    """Add the arguments of ``podium verify`` to its parser."""
    parser.add_argument("results", type=existing_file, metavar="RESULTS", help="the exported results, a JSON file")
    parser.add_argument(
        "--key",
        type=public_keys,
        default=(),
        metavar="KEY",
        help="the server's public key: 64 hexadecimal digits, or a file with the response of /api/v1/signing-key",
    )
    parser.add_argument(
        "--truth",
        type=existing_truth,
        metavar="DIR",
        help="also check the ground truth: a ground truth folder or a prepared ground truth",
    )
    parser.add_argument(
        "--usage",
        type=existing_file,
        metavar="FILE",
        help="the usage.csv of the ground truth, if it is not in the ground truth folder",
    )
    parser.add_argument(
        "--seed", type=seed, metavar="S", help="the seed of the split, if the ground truth has no salt.txt"
    )
    parser.add_argument(
        "--submissions", type=existing_folder, metavar="DIR", help="also score the files in a folder and compare scores"
    )
    add_json(parser)
    add_threads(parser)


def public_keys(text: str) -> tuple[str, ...]:
    """Convert an argument to public keys. The argument is a public key or the name of a file.

    The file contains either one public key, or the JSON response in which a server lists its current and earlier keys.
    """
    if KEY.fullmatch(text.lower()):
        return (text.lower(),)
    path = Path(text)
    if not path.is_file():
        raise ArgumentTypeError(f"{text!r} is neither 64 hexadecimal digits nor a file")
    with path.open("rb") as file:
        content = file.read(KEY_BYTES).decode(errors="replace").strip()
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        answer = None
    answer = answer if isinstance(answer, dict) else {PUBLIC_KEY: content}
    earlier = answer.get(EARLIER_KEYS, [])
    listed = [answer.get(PUBLIC_KEY), *(earlier if isinstance(earlier, list) else [earlier])]
    found = tuple(str(one).lower() for one in listed)
    if not all(KEY.fullmatch(one) for one in found):
        raise ArgumentTypeError(f"{text}: this file does not contain a public key of 64 hexadecimal digits")
    return found


def run(arguments: Namespace) -> int:
    """Check exported results, print what was checked and all problems, and return the exit code."""
    for option in ("submissions", "usage", "seed"):
        if getattr(arguments, option) is not None and arguments.truth is None:
            raise WrongUsage(f"--{option} requires --truth")
    findings, found, results = Findings(), None, None
    try:
        found = opened(_content(arguments.results))
        results = _signed_results(found, arguments.key, findings)
        if results is not None and arguments.truth is not None:
            _check_truth(results, arguments, findings)
    except OtherKey as error:
        findings.refuse(Exit.OTHER_KEY, str(error))
    except (InvalidSigned, InvalidResults) as error:
        findings.refuse(Exit.INVALID_RESULTS, str(error))
    if write_json(_answer(findings, found, results, arguments), to=arguments.json):
        _print(findings, results, arguments.results)
    return findings.code


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(FILE_BYTES + 1)
    if len(content) > FILE_BYTES:
        raise InvalidSigned(f"the file has more than {FILE_BYTES // 2**20} MB, so it cannot be a results file")
    return content


def _signed_results(found: Opened, keys: Collection[str], findings: Findings) -> Results | None:
    """Return the results if their signature and ranks are valid. Otherwise, return None.

    All problems are added to ``findings``.
    """
    try:
        check(found, keys=keys)
    except InvalidSigned as error:
        findings.refuse(Exit.OTHER_KEY if isinstance(error, OtherKey) else Exit.INVALID_RESULTS, str(error))
    else:
        findings.checked["signature"] = f"valid; key {found.public_key}: {_which_key(found, keys)}"
    results = Results.of(found.document)
    findings.refuse(Exit.INVALID_RESULTS, *results.rank_problems())
    if findings.problems:
        return None
    count = sum(len(board.entries) for board in results.boards)
    findings.checked["ranks"] = f"{counted(count, 'entry', 'entries')}: the ranks match the scores"
    return results


def _which_key(found: Opened, keys: Collection[str]) -> str:
    if not keys:
        return ANY_KEY
    return "the given key" if next(iter(keys)) == found.public_key else "an earlier key of the server"


def _check_truth(results: Results, arguments: Namespace, findings: Findings) -> None:
    # The module evaluator.verification loads numpy, which is only needed to check a ground truth.
    from evaluator.verification import prepared_truth, score_problems, truth_problems

    opening = TruthOptions(usage=arguments.usage, split=None if arguments.seed is None else (1.0, arguments.seed))
    with prepared_truth(results, arguments.truth, opening) as prepared:
        problems = truth_problems(results, prepared)
        findings.refuse(Exit.INVALID_TRUTH, *problems)
        if problems:
            return
        usage = "sha256 and usage match" if results.usage_hash else "sha256 matches"
        findings.checked["truth"] = usage
        if arguments.submissions is None:
            return
        with progress() as tell:
            resources = Resources(threads=arguments.threads, progress=tell)
            scores = score_problems(results, prepared, arguments.submissions, resources)
    findings.missing = scores.missing
    findings.refuse(Exit.INVALID_RESULTS, *scores.problems)
    if not scores.compared:
        findings.refuse(Exit.INVALID_RESULTS, "no file in the submissions folder belongs to an entry")
    elif not scores.problems:
        equal = counted(scores.compared, "entry", "entries")
        findings.checked["scores"] = f"{equal} scored again with identical scores"


def _answer(findings: Findings, found: Opened | None, results: Results | None, arguments: Namespace) -> dict[str, Any]:
    names = ("challenge", "phase", "exported_at", "is_final", "unfinished")
    return {
        "accepted": not findings.problems,
        **{name: results and getattr(results, name) for name in names},
        "public_key": found and found.public_key,
        "key_given": bool(arguments.key),
        "checked": findings.checked,
        "missing": findings.missing,
        "problems": findings.problems,
    }


def _print(findings: Findings, results: Results | None, path: Path) -> None:
    if results is not None:
        print(f"{visible(results.challenge)}/{visible(results.phase)}, exported {visible(results.exported_at)}")
        if not results.is_final:
            reasons = "; ".join(visible(one) for one in results.unfinished) or "the phase had not closed"
            print(f"PRELIMINARY when these results were exported: {reasons}")
    for subject, text in findings.checked.items():
        print(f"{subject:<10} {text}")
    for name in findings.missing:
        print(f"{'no file':<10} {name}")
    for problem in findings.problems:
        print(f"{visible(str(path))}: {visible(problem)}")
    print("refused" if findings.problems else "accepted")
