"""The signed results of a phase: its leaderboards, and the ground truth and parameters used to compute the scores.

`podium verify` checks the signed file without a server.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from evaluator import signing
from evaluator.results import FORMAT
from evaluator.texts import counted
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase, Truth
from server.clock import time_text
from server.errors import Refused
from server.leaderboards.export import csv_text, harmless, number_cells
from server.leaderboards.queries import BoardRow, ShownBoard, board_seen
from server.leaderboards.reading import has_private
from server.leaderboards.validators import content_key, entity_tag, not_modified, tagged
from server.organize.models import Rescoring
from server.organize.services import signing_keys, statistics
from server.submissions.feedback import ScoreAccess
from server.submissions.models import Evaluation, Rerun, Status, Submission

NOT_YET = "The results can be downloaded when the phase is over and its private scores are shown."
NO_TRUTH = "This phase has no ground truth yet, so it has no results."
PRELIMINARY = (
    "To download them as they are now, use the links to preliminary results, or --preliminary on the command line."
)


@dataclass(frozen=True, slots=True)
class Export:
    """The results of a phase as a given viewer may see them.

    `unfinished` lists the reasons why the results are not final. It is empty if they are final.
    """

    phase: Phase
    truth: Truth
    access: ScoreAccess
    now: datetime
    boards: list[ShownBoard]
    unfinished: list[str]

    @property
    def is_final(self) -> bool:
        return not self.unfinished

    def tag(self, *parts: object) -> str:
        """Return the entity tag of a download. It does not depend on the time of the export."""
        first, *others = self.boards
        described = self.document() | {"exported_at": "", "leaderboards": []}
        return entity_tag(first, [content_key(one) for one in others], described, signing_keys.public_key(), *parts)

    def content(self, *, is_csv: bool, by: User | None) -> bytes:
        """Return the signed document, or its entries as CSV.

        An export with unrounded intervals, which only organizers and operators get, is recorded in the audit log.
        Raises Refused for a signed document if the most recent results were signed with another key.
        """
        described = self.document()
        for one, board in zip(described["leaderboards"], self.boards, strict=True):
            one["entries"] = list(entries(board))
        written = as_csv(described).encode() if is_csv else signing.sign(described, signing_keys.trusted_key())
        # Only organizers and operators see unrounded confidence intervals. Their exports are recorded in the audit log.
        if self.access.exact_ends:
            detail = {"format": "csv" if is_csv else "json", "final": self.is_final}
            audit.record(actor=by, action="results.exported", subject=f"phase {self.phase}", detail=detail)
        return written

    def document(self) -> dict[str, Any]:
        """Return the results of a phase as a document without leaderboard entries. `content` adds the entries."""
        phase, track = self.phase, self.phase.declared_track
        usage_hash = statistics.of(self.truth).get("usage_hash")
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
            "truth": {"version": self.truth.version, "sha256": self.truth.sha256, "usage_hash": usage_hash},
            "decimals": self.access.decimals,
            "final": self.is_final,
            "unfinished": self.unfinished,
            "exported_at": time_text(self.now),
            "leaderboards": [{"split": board.split, "entries": []} for board in self.boards],
        }


def export(phase: Phase, *, access: ScoreAccess, now: datetime, preliminary: bool) -> Export:
    """Return the results of a phase as the viewer may see them.

    Organizers can always read them. Other viewers can read them once the private leaderboard is open to them. Raises
    Refused if the viewer may not read them yet, if the phase has no ground truth, or if the results are not final and
    `preliminary` is false.
    """
    if "private" not in access.splits:
        raise Refused("forbidden", NOT_YET)
    truth, unfinished = scored_truth(phase), list(unfinished_work(phase, now))
    if unfinished and not preliminary:
        raise Refused("results_not_final", f"The results are not final: {'; '.join(unfinished)}. {PRELIMINARY}")
    splits = ("public", "private") if has_private(phase) else ("public",)
    boards = [board_seen(phase, split=split, access=access, now=now) for split in splits]
    return Export(phase, truth, access, now, boards, unfinished)


def unfinished_work(phase: Phase, now: datetime) -> Iterator[str]:
    """Yield a phrase for each reason why the results of a phase may still change."""
    if not phase.shows_private(now):
        yield "the private scores are not shown yet"
    waiting = Submission.objects.filter(phase=phase, status__in=(Status.QUEUED, Status.RUNNING)).count()
    if waiting:
        yield f"{counted(waiting, 'submission')} queued or running"
    again = Rerun.objects.scoring().pending().filter(submission__phase=phase, truth__active=True).count()
    if again:
        yield f"{counted(again, 'submission')} being scored again"
    if Rescoring.objects.filter(phase=phase, applied_at=None).exists():
        yield "a rescoring is open"


def download(
    request: HttpRequest, phase: Phase, *, access: ScoreAccess, now: datetime, preliminary: bool, is_csv: bool
) -> HttpResponseBase:
    """Return a response with the results as a file, or with status 304 if the client already has the same file.

    Raises Refused in the same cases as `export`.
    """
    ready = export(phase, access=access, now=now, preliminary=preliminary)
    tag = ready.tag(is_csv)
    return not_modified(request, tag) or tagged(file_response(ready, is_csv=is_csv, by=request.user), tag)


def file_response(ready: Export, *, is_csv: bool, by: Any) -> HttpResponse:
    kind = "results" if ready.is_final else "preliminary-results"
    name = ready.phase.download_name(f"{kind}.{'csv' if is_csv else 'json'}")
    return HttpResponse(
        ready.content(is_csv=is_csv, by=by),
        content_type="text/csv; charset=utf-8" if is_csv else "application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def scored_truth(phase: Phase) -> Truth:
    """Return the ground truth used to compute the phase's current scores. Raises Refused if there is none."""
    words = phase.signature.split("|")
    found = next((one for one in phase.truths.all() if f"truth:{one.sha256[:12]}" in words), None)
    if found is None:
        raise Refused("not_found", NO_TRUTH)
    return found


def entries(board: ShownBoard) -> Iterator[dict[str, Any]]:
    """Yield the entries of a leaderboard in rank order, as they are written to the exported results."""
    for rows in board.chunks():
        scored = Evaluation.objects.filter(pk__in=[row.evaluation_id for row in rows if row.evaluation_id])
        hashes = dict(scored.order_by().values_list("pk", "submission__sha256"))
        for row in rows:
            yield entry(row, hashes.get(row.evaluation_id) if row.evaluation_id else None)


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
    """Return the entries of all leaderboards as CSV. Numbers are written at full precision.

    Team names that a spreadsheet would execute as formulas are escaped.
    """
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
