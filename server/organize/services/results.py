"""Results of a phase: what its leaderboards show and what the scores were computed from, signed by this server.

`podium verify` checks the signed file without a server.
"""

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.http import HttpResponse

from evaluator import signing
from evaluator.results import FORMAT
from server.challenges.models import Phase, Truth
from server.clock import time_text
from server.errors import Refused
from server.leaderboards.export import csv_text, harmless, number_cells
from server.leaderboards.queries import BoardRow, ShownBoard, board_seen, has_private
from server.organize.services import statistics
from server.submissions.feedback import ScoreAccess
from server.submissions.models import Submission

NOT_YET = "The results can be downloaded when the phase is over and its private scores are shown."
NO_TRUTH = "This phase has no ground truth yet, so it has no results."


def public_key() -> str:
    """Return the public key of this server, with which everybody can verify its results."""
    return signing.public_key(private_key())


def private_key() -> bytes:
    return sha256(f"results {settings.SIGNING_KEY.strip()}".encode()).digest()


def json_response(phase: Phase, *, access: ScoreAccess, now: datetime) -> HttpResponse:
    """Return the response that downloads the signed results. Raises Refused if the viewer may not read them yet."""
    content = signing.sign(document(phase, access=access, now=now), private_key())
    return _download(phase, content, "application/json", "json")


def csv_response(phase: Phase, *, access: ScoreAccess, now: datetime) -> HttpResponse:
    """Return the response that downloads the entries as CSV. Raises Refused if the viewer may not read them yet."""
    return _download(phase, as_csv(document(phase, access=access, now=now)), "text/csv; charset=utf-8", "csv")


def _download(phase: Phase, content: bytes | str, content_type: str, ending: str) -> HttpResponse:
    name = phase.download_name(f"results.{ending}")
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    return HttpResponse(content, content_type=content_type, headers=headers)


def document(phase: Phase, *, access: ScoreAccess, now: datetime) -> dict[str, Any]:
    """Return the results of a phase as the viewer may see them.

    Organizers can always read them. Others can read them when the private leaderboard is open to them. Raises Refused
    before that, and if the phase has no truth.
    """
    if "private" not in access.splits:
        raise Refused("forbidden", NOT_YET)
    truth = scored_truth(phase)
    splits = ("public", "private") if has_private(phase) else ("public",)
    track = phase.declared_track
    return {
        "format": FORMAT,
        "challenge": phase.challenge.slug,
        "phase": phase.slug,
        "track": track.name,
        "parameters": track.resolve(phase.parameters),
        "public_share": phase.public_share,
        "headline": track.headline,
        "signature": phase.signature,
        "evaluator_version": phase.signature.rpartition("evaluator:")[2],
        "truth": {
            "version": truth.version,
            "sha256": truth.sha256,
            "usage_hash": statistics.of(truth).get("usage_hash"),
        },
        "decimals": access.decimals,
        "final": phase.has_closed(now),
        "exported_at": time_text(now),
        "leaderboards": [
            {"split": split, "entries": list(entries(board_seen(phase, split=split, access=access, now=now)))}
            for split in splits
        ],
    }


def scored_truth(phase: Phase) -> Truth:
    """Return the truth that the signature of the phase names. Raises Refused if there is none."""
    words = phase.signature.split("|")
    found = next((one for one in phase.truths.all() if f"truth:{one.sha256[:12]}" in words), None)
    if found is None:
        raise Refused("not_found", NO_TRUTH)
    return found


def entries(board: ShownBoard) -> Iterator[dict[str, Any]]:
    """Yield the entries of a leaderboard in its order."""
    for rows in board.chunks():
        files = Submission.objects.filter(pk__in=[row.submission_id for row in rows if row.submission_id])
        hashes = dict(files.order_by().values_list("pk", "sha256"))
        for row in rows:
            yield entry(row, hashes.get(row.submission_id) if row.submission_id else None)


def entry(row: BoardRow, submission_sha256: str | None) -> dict[str, Any]:
    return {
        "rank": row.rank,
        "team": row.team,
        "score": row.score,
        "interval": row.interval and list(row.interval),
        "scores": row.scores,
        "entries": row.entries,
        "submitted_at": time_text(row.submitted_at),
        "baseline": row.baseline,
        "submission_sha256": submission_sha256,
    }


def as_csv(results: dict[str, Any]) -> str:
    """Return the entries of all leaderboards as CSV, with all digits and without cells that a spreadsheet executes."""
    boards = results["leaderboards"]
    metrics = sorted({name for board in boards for one in board["entries"] for name in one["scores"]})
    header = ["split", "rank", "team", "score", "low", "high", *metrics, *LAST_COLUMNS]
    rows = ([board["split"], *_cells(one, metrics)] for board in boards for one in board["entries"])
    return csv_text([header, *rows])


LAST_COLUMNS = ("entries", "submitted_at", "baseline", "submission_sha256")


def _cells(one: dict[str, Any], metrics: list[str]) -> list[str]:
    low, high = one["interval"] or (None, None)
    numbers = (one["score"], low, high, *(one["scores"].get(name) for name in metrics))
    return [
        str(one["rank"] or ""),
        harmless(one["team"]),
        *number_cells(numbers),
        str(one["entries"]),
        one["submitted_at"],
        str(one["baseline"]).lower(),
        one["submission_sha256"] or "",
    ]
