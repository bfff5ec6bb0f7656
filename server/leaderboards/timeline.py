"""Computes how the scores and ranks of some teams on a leaderboard changed over time."""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate

from django.core.cache import caches

from server.leaderboards.periods import Span, periods, spans
from server.leaderboards.queries import ShownBoard
from server.leaderboards.validators import content_key, fingerprint

# Maximum number of points in time in a chart. With more, the points would be less than 6 pixels apart.
MOMENTS = 200


@dataclass(frozen=True, slots=True)
class Point:
    """The score (as shown to the viewer) and the rank of a team at one moment. The rank of a baseline is None."""

    score: float
    rank: int | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The moments at which a score or rank changed, with every team's score and rank at each of these moments.

    A point is None if the team was not listed at that moment.
    """

    moments: list[datetime]
    points: dict[int, list[Point | None]]


@dataclass(frozen=True, slots=True)
class Field:
    """All scores that teams had over time, highest first, without baselines.

    `begins` and `ends` contain indices of `moments`. A score is shown from the first moment up to, but not including,
    the second. Arrays are used to save memory, because there can be 100,000 scores.
    """

    moments: list[datetime]
    scores: "array[float]"
    begins: "array[int]"
    ends: "array[int]"


# The history of all teams, as a tuple (content key, minute, history). The first two are the leaderboard's content key
# and the time, rounded down to the minute, when the history was read.
CachedField = tuple[object, datetime, Field]


def timeline_of(board: ShownBoard, teams: Collection[int], *, with_ranks: bool) -> Timeline:
    """Return the history of some teams on a leaderboard.

    If `with_ranks` is true, the history of all teams is read, because a rank depends on all of them. Otherwise, ranks
    are None.
    """
    shown = periods(board.phase, split=board.split, access=board.access, now=board.now)
    own = list(spans(shown, teams=teams))
    if not with_ranks:
        moments = moments_of(own)
        return Timeline(moments, points_of(own, moments, teams))
    found = cached_field(board)
    if found is None:
        found = content_key(board), minute_of(board), field_of(list(spans(shown)))
        caches["history"].set(field_key(board), found)
    return Timeline(found[2].moments, points_of(own, found[2].moments, teams, field=found[2]))


def content_of_ranks(board: ShownBoard) -> object:
    """Return the content key of the leaderboard from which the ranks of `timeline_of` are computed.

    It may differ from the key of the current leaderboard, because the cached history of all teams can be up to one
    minute out of date.
    """
    found = cached_field(board)
    return content_key(board) if found is None else found[0]


def cached_field(board: ShownBoard) -> CachedField | None:
    """Return the cached history of all teams, or None if it must be read again."""
    found: CachedField | None = caches["history"].get(field_key(board))
    is_usable = found is not None and (found[0] == content_key(board) or found[1] == minute_of(board))
    return found if is_usable else None


def field_key(board: ShownBoard) -> str:
    return fingerprint("field", board.phase.pk, board.split, board.access, board.phase.shown_from)


def minute_of(board: ShownBoard) -> datetime:
    return board.now.replace(second=0, microsecond=0)


def moments_of(parts: Iterable[Span], *, count: int = MOMENTS) -> list[datetime]:
    """Return the times at which a score appeared or disappeared, in chronological order.

    If there are more than `count` changes, the whole period is divided into `count` equal parts, and only the last
    change in each part is returned.
    """
    changes = sorted({moment for span in parts for moment in (span.since, span.until) if moment is not None})
    if len(changes) <= count:
        return changes
    first, length = changes[0], changes[-1] - changes[0]
    return list({int(count * ((change - first) / length)): change for change in changes}.values())


def field_of(parts: Sequence[Span], *, count: int = MOMENTS) -> Field:
    moments = moments_of(parts, count=count)
    found = sorted((-span.score, *indices(span, moments)) for span in parts if not span.is_baseline)
    listed = [line for line in found if line[1] < line[2]]
    return Field(
        moments,
        array("d", (-line[0] for line in listed)),
        array("H", (line[1] for line in listed)),
        array("H", (line[2] for line in listed)),
    )


def indices(span: Span, moments: Sequence[datetime]) -> tuple[int, int]:
    """Return the indices of the moments at which a score appears and disappears."""
    end = len(moments) if span.until is None else bisect_left(moments, span.until)
    return bisect_left(moments, span.since), end


def points_of(
    own: Iterable[Span], moments: Sequence[datetime], teams: Collection[int], *, field: Field | None = None
) -> dict[int, list[Point | None]]:
    """Return each team's point (score and rank) at every moment, computed from the spans in which scores were shown.

    If `field` is given, the points include ranks. The spans are processed in descending order of score. For each
    moment, `differences` holds the change since the previous moment in the number of scores that are higher than the
    score of the current span.
    """
    found: dict[int, list[Point | None]] = {team: [None] * len(moments) for team in teams}
    differences, position = [0] * (len(moments) + 1), 0
    for span in sorted(own, key=lambda span: -span.score):
        while field is not None and position < len(field.scores) and field.scores[position] > span.score:
            differences[field.begins[position]] += 1
            differences[field.ends[position]] -= 1
            position += 1
        first, end = indices(span, moments)
        higher = list(accumulate(differences[:end]))[first:]
        is_ranked = field is not None and not span.is_baseline
        found[span.team_id][first:end] = [Point(span.shown_score, one + 1 if is_ranked else None) for one in higher]
    return found
