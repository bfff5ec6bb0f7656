"""A small document with the results of a phase, and the keys that tests use to sign it."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

# The private keys of the first two test vectors in RFC 8032.
SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
OTHER_SEED = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")


def entry(rank: int | None, team: str, score: float, **fields: Any) -> dict[str, Any]:
    return {
        "rank": rank,
        "team": team,
        "score": score,
        "scores": {"mAP": score, "recall": None},
        "interval": [score - 0.01, score + 0.01],
        "entries": 3,
        "submitted_at": "2026-01-02T03:04:05Z",
        "baseline": rank is None,
        "submission_sha256": "ab" * 32,
        **fields,
    }


def document(**fields: Any) -> dict[str, Any]:
    """Return results that contain exact scores, two of which are equal, a baseline, and a number with 17 digits."""
    public = [
        entry(1, "Bären", 0.30000000000000004),
        entry(None, "Baseline", 0.25, interval=None, submission_sha256=None),
        entry(2, "Cats", 0.2),
        entry(2, "Dogs", 0.2),
        entry(4, "Eels", 1e-07),
    ]
    return {
        "format": "podium-results-1",
        "challenge": "c",
        "phase": "main",
        "track": "openimages-detection",
        "parameters": {"iou_threshold": 0.5, "expand_hierarchy": True},
        "public_share": 0.3,
        "headline": "mAP",
        "signature": "openimages-detection|truth:0123456789ab|evaluator:1.1.0",
        "evaluator_version": "1.1.0",
        "truth": {"version": 2, "sha256": "01" * 32, "usage_hash": "cd" * 32},
        "decimals": None,
        "final": True,
        "unfinished": [],
        "exported_at": "2026-02-03T04:05:06.789000Z",
        "leaderboards": [
            {"split": "public", "entries": public},
            {"split": "private", "entries": [entry(1, "Cats", 0.1)]},
        ],
        **fields,
    }


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path (keys and indices) of each string, number, Boolean and null in a JSON document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path
        return
    for name, one in items:
        yield from places(one, (*path, name))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """Return a copy of a document with a different value at the given path."""
    copy = deepcopy(value)
    parent = copy
    for name in path[:-1]:
        parent = parent[name]
    parent[path[-1]] = new
    return copy


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value
