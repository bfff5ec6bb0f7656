"""The rows of the organizers' table of all submissions to a phase, for the page and the CSV file."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from evaluator.digits import Interval
from server.clock import utc_text
from server.leaderboards.export import csv_text, harmless, number_cells
from server.pages.submission.listing import address_of
from server.submissions.feedback import ScoreAccess, intervals_in, scores_in
from server.submissions.models import Fault, Status, Submission

COLUMNS = (
    *("id", "received_at", "finished_at", "team", "disqualified", "user", "file_name", "size_bytes", "sha256"),
    *("status", "fault", "failure_code", "failure", "final", "hidden", "public", "low", "high", "private"),
)
ACTS: Mapping[str, str] = {Status.FAILED: "Requeue", Status.SCORED: "Rescore"}


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row in the organizers' table of submissions, with the scores that the viewer may see.

    `act` is the label of the action that organizers can take, such as "Requeue", or an empty string if there is none.
    """

    submission: Submission
    key: str
    url: str
    team: str
    user: str
    has_score: bool
    public: float | None
    private: float | None
    interval: Interval | None
    has_private: bool
    fault: str
    act: str

    @property
    def is_disqualified(self) -> bool:
        return self.submission.team.disqualified_at is not None


def table_row(one: Submission, access: ScoreAccess) -> TableRow:
    headline = one.phase.declared_track.headline
    scores = scores_in(one, access)
    return TableRow(
        submission=one,
        key=str(one.pk),
        url=address_of("submission", one),
        team=one.team.name,
        user=one.user.get_username() if one.user else "",
        has_score="public" in scores,
        public=scores.get("public", {}).get(headline),
        private=scores.get("private", {}).get(headline),
        interval=intervals_in(one, access).get("public", {}).get(headline),
        has_private="private" in scores,
        fault=Fault(one.fault).label if one.fault else "",
        act=ACTS.get(one.status, "") if one.file else "",
    )


def csv_chunks(chunks: Iterable[Iterable[TableRow]]) -> Iterator[str]:
    """Yield the organizers' table of submissions as CSV: a header, then one string for each chunk of rows."""
    yield csv_text([[*COLUMNS]])
    for rows in chunks:
        yield csv_text(map(cells, rows))


def cells(row: TableRow) -> list[str]:
    one = row.submission
    low, high = row.interval or (None, None)
    return [
        *(row.key, utc_text(one.received_at), utc_text(one.finished_at) if one.finished_at else ""),
        *(harmless(row.team), str(row.is_disqualified).lower(), harmless(row.user), harmless(one.file_name)),
        *(str(one.size_bytes), one.sha256, one.status, one.fault, one.failure_code, harmless(one.failure)),
        *(str(one.final).lower(), str(one.hidden_at is not None).lower()),
        *number_cells((row.public, low, high, row.private)),
    ]
