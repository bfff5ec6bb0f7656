"""Defines the document with the results of a phase: its leaderboards, and how the scores were computed."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.problems import PodiumError, visible
from evaluator.ranking import fit_rounded, ranks

FORMAT = "podium-results-1"
SPLITS = ("public", "private", "all")
MAX_DECIMALS = 15
_SHA256 = re.compile(r"[0-9a-f]{64}")


class InvalidResults(PodiumError):
    """Raised if a document does not have the structure of exported results. The message explains why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The leaderboard entry of a team or a baseline. ``submission_sha256`` is None if the submission was removed."""

    rank: int | None
    team: str
    score: float
    scores: Mapping[str, Any]
    baseline: bool
    submission_sha256: str | None

    @classmethod
    def of(cls, document: Any) -> "Entry":
        """Parse the JSON object of a leaderboard entry. Raises InvalidResults if the object is invalid."""
        found = _mapping(document, "an entry")
        return cls(
            rank=_value(found, "rank", int, None),
            team=_value(found, "team", str),
            score=_value(found, "score", float),
            scores=_mapping(found.get("scores"), "scores"),
            baseline=_value(found, "baseline", bool),
            submission_sha256=_value(found, "submission_sha256", str, None),
        )


@dataclass(frozen=True, slots=True)
class Board:
    """The leaderboard of one split. The entries are in rank order."""

    split: str
    entries: list[Entry]

    @classmethod
    def of(cls, document: Any) -> "Board":
        """Parse the JSON object of a leaderboard. Raises InvalidResults if the object is invalid."""
        found = _mapping(document, "a leaderboard")
        if found.get("split") not in SPLITS:
            raise InvalidResults(f"the split of a leaderboard is not {', '.join(SPLITS[:-1])} or {SPLITS[-1]}")
        return cls(_value(found, "split", str), [Entry.of(one) for one in _value(found, "entries", list)])


@dataclass(frozen=True, slots=True)
class Results:
    """The exported results of a phase.

    Attributes
    ----------
    challenge, phase, track, exported_at : str
    parameters : mapping
        All parameters of the track.
    public_share : float
        Fraction of public images, if the ground truth has no ``usage.csv``.
    signature : str
        Identifies how the scores were computed; see :func:`evaluator.signature.compose`.
    truth_sha256 : str
    usage_hash : str or None
        Hash of the usage (public, private or ignored) of all images; see :func:`evaluator.salt.usage_hash`.
    decimals : int or None
        Number of decimals to which scores were rounded after the ranks were computed; None if the scores are exact.
    is_final : bool
        Whether the results are final. Final results change only if the phase is rescored.
    unfinished : list of str
        Reasons why the results are preliminary. Empty for final results, and in files from earlier versions of Podium.
    boards : list of Board
    """

    challenge: str
    phase: str
    track: str
    exported_at: str
    parameters: Mapping[str, Any]
    public_share: float
    signature: str
    truth_sha256: str
    usage_hash: str | None
    decimals: int | None
    is_final: bool
    unfinished: list[str]
    boards: list[Board]

    @classmethod
    def of(cls, document: Any) -> "Results":
        """Parse the JSON document with the results of a phase.

        Raises
        ------
        InvalidResults
        """
        found = _mapping(document, "results")
        if found.get("format") != FORMAT:
            raise InvalidResults(
                f"the format is not {FORMAT}: this is another kind of file, or it was written by another version of "
                "Podium"
            )
        truth = _mapping(found.get("truth"), "truth")
        texts = {name: _value(found, name, str) for name in ("challenge", "phase", "track", "exported_at", "signature")}
        results = cls(
            **texts,
            parameters=_mapping(found.get("parameters"), "parameters"),
            public_share=_value(found, "public_share", float),
            truth_sha256=_value(truth, "sha256", str),
            usage_hash=_value(truth, "usage_hash", str, None),
            decimals=_value(found, "decimals", int, None),
            is_final=_value(found, "final", bool),
            unfinished=[_text(one) for one in _value({"unfinished": [], **found}, "unfinished", list)],
            boards=[Board.of(one) for one in _value(found, "leaderboards", list)],
        )
        results._check_ranges()
        return results

    def _check_ranges(self) -> None:
        if not _SHA256.fullmatch(self.truth_sha256):
            raise InvalidResults("the sha256 of the ground truth is not 64 hexadecimal digits")
        if self.decimals is not None and not 0 <= self.decimals <= MAX_DECIMALS:
            raise InvalidResults(f"decimals is not a number from 0 to {MAX_DECIMALS}")
        if not self.boards or len({board.split for board in self.boards}) < len(self.boards):
            raise InvalidResults("there is no leaderboard, or there are two leaderboards for the same split")

    def rank_problems(self) -> Iterator[str]:
        """Yield a message for each leaderboard whose order or ranks contradict its scores."""
        for board in self.boards:
            lines = [(entry.score, entry.baseline) for entry in board.entries]
            for above, below in zip(board.entries, board.entries[1:], strict=False):
                if below.score > above.score:
                    yield f"{board.split}: {_named(below)} is listed below {_named(above)}, which has a lower score"
                    break
            yield from self._wrong_ranks(board, lines)

    def _wrong_ranks(self, board: Board, lines: list[tuple[float, bool]]) -> Iterator[str]:
        found = [entry.rank for entry in board.entries]
        if self.decimals is not None:
            if not fit_rounded(lines, found):
                yield f"{board.split}: these ranks are impossible for any exact scores that round to the given values"
            return
        for entry, expected in zip(board.entries, ranks(lines), strict=True):
            if entry.rank != expected:
                said, due = ("no rank" if one is None else f"rank {one}" for one in (entry.rank, expected))
                yield f"{board.split}: {_named(entry)} has {said}, but according to its score it should have {due}"
                return


def _named(entry: Entry) -> str:
    return f"the team “{visible(entry.team)}”"


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidResults(f"{name} is missing or is not an object")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidResults("a reason why the results are preliminary is not a string")
    return value


def _value(found: Mapping[str, Any], name: str, kind: type, *other: Any) -> Any:
    """Return the value of the key ``name`` in the JSON object ``found``.

    Raises InvalidResults unless the type of the value is exactly ``kind`` or the value is one of ``other``.
    """
    value = found.get(name, _value)
    if type(value) is kind or value in other:
        return value
    raise InvalidResults(f"{name} is missing or has an invalid value")
