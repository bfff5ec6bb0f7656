"""Stores the values of all metrics except the headline metric (which ranks the teams) for current leaderboard entries.

With these values, a leaderboard can be sorted by any metric.
"""

from collections.abc import Collection, Iterator

from django.db import transaction
from django.db.models import F, FloatField, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from server.challenges.models import Phase
from server.leaderboards.models import Board, Entry, MetricValue
from server.leaderboards.scored_entries import SPLITS
from server.sql import execute
from server.submissions.models import Score

# A single statement copies the metric values of entries from their scores. It must be fast, because it runs whenever a
# score changes an entry. Undefined values are stored as minus infinity, which sorts last.
INSERT = """
INSERT INTO leaderboards_metricvalue (board_id, entry_id, metric, value)
SELECT entry.board_id, entry.id, asked.metric, COALESCE(score.value, %%s)
FROM leaderboards_board AS board
JOIN leaderboards_entry AS entry ON entry.board_id = board.id AND entry.valid_until IS NULL
CROSS JOIN (%(metrics)s) AS asked
LEFT JOIN submissions_score AS score ON score.evaluation_id = entry.evaluation_id AND score.metric = asked.metric
AND score.split = CASE WHEN board.kind = 'published' THEN 'public' ELSE board.kind END
WHERE board.phase_id = %%s AND %(which)s
AND NOT EXISTS (SELECT 1 FROM leaderboards_metricvalue AS kept WHERE kept.entry_id = entry.id)
"""


def metrics_of(phase: Phase) -> list[str]:
    """Return the metrics whose values are stored: those that leaderboards show in addition to the headline metric."""
    return [metric.name for metric in phase.declared_track.board_metrics]


def replace(phase: Phase, closed: Collection[int], opened: Collection[int]) -> None:
    """Delete the stored metric values of entries that were replaced or removed, and write those of new entries."""
    if metrics_of(phase):
        execute("DELETE FROM leaderboards_metricvalue WHERE entry_id IN ({})", (), closed)
        insert_missing(phase, "entry.id IN ({})", opened)


@transaction.atomic
def rebuild(phase: Phase) -> None:
    """Replace the stored values for all entries of a phase with the values from their evaluations."""
    list(Board.objects.select_for_update(no_key=True).filter(phase=phase).order_by("pk").values_list("pk"))
    MetricValue.objects.filter(board__phase=phase).delete()
    if metrics_of(phase):
        insert_missing(phase, "TRUE", ())


def insert_missing(phase: Phase, which: str, entries: Collection[int]) -> None:
    metrics = metrics_of(phase)
    asked = " UNION ALL ".join(["SELECT %s AS metric"] * len(metrics))
    execute(INSERT % {"metrics": asked, "which": which}, [MetricValue.UNDEFINED, *metrics, phase.pk], entries)


def wrong_values(phase: Phase) -> Iterator[str]:
    """Yield a sentence for each stored metric value that differs from the evaluation, is missing, or is left over."""
    for board in Board.objects.filter(phase=phase).order_by("pk"):
        for metric in metrics_of(phase):
            kept = MetricValue.objects.filter(entry=OuterRef("pk"), board=board, metric=metric).values("value")
            scores = Score.objects.filter(evaluation=OuterRef("evaluation"), split=SPLITS[Board.Kind(board.kind)])
            value = Subquery(scores.filter(metric=metric).values("value"), output_field=FloatField())
            entries = (
                Entry.objects.present()
                .filter(board=board)
                .annotate(
                    kept=Subquery(kept),
                    expected=Coalesce(value, Value(MetricValue.UNDEFINED, output_field=FloatField())),
                )
            )
            for one in entries.filter(Q(kept=None) | ~Q(kept=F("expected"))).select_related("team"):
                yield f"{phase} {board.kind} {one.team.name}: has {metric} {one.kept}; expected {one.expected}"
    values = MetricValue.objects.filter(board__phase=phase)
    left = values.exclude(entry__valid_until=None, metric__in=metrics_of(phase))
    yield from (
        f"{phase}: an entry that is no longer on the leaderboard still has a value for {one.metric}" for one in left
    )
