"""Adds a table with the values of all metrics except the headline, so that leaderboards can be sorted by them."""

import django.db.models.deletion
from django.db import migrations, models

from evaluator.catalog import TRACKS

INSERT = """
INSERT INTO leaderboards_metricvalue (board_id, entry_id, metric, value)
SELECT entry.board_id, entry.id, %s, COALESCE(score.value, %s)
FROM leaderboards_board AS board
JOIN leaderboards_entry AS entry ON entry.board_id = board.id AND entry.valid_until IS NULL
LEFT JOIN submissions_score AS score ON score.evaluation_id = entry.evaluation_id AND score.metric = %s
AND score.split = CASE WHEN board.kind = 'published' THEN 'public' ELSE board.kind END
WHERE board.phase_id = %s
"""


def fill(apps, schema_editor):
    Phase = apps.get_model("challenges", "Phase")
    for phase in Phase.objects.filter(track__in=TRACKS):
        for metric in TRACKS[phase.track].board_metrics:
            with schema_editor.connection.cursor() as cursor:
                cursor.execute(INSERT, [metric.name, float("-inf"), metric.name, phase.pk])


class Migration(migrations.Migration):
    dependencies = [("leaderboards", "0004_comparisons")]

    operations = [
        migrations.CreateModel(
            name="MetricValue",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("metric", models.CharField(max_length=60)),
                ("value", models.FloatField(help_text="minus infinity: undefined")),
                (
                    "board",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="leaderboards.board",
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="values",
                        to="leaderboards.entry",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("board"),
                        models.F("metric"),
                        models.OrderBy(models.F("value"), descending=True),
                        models.F("entry"),
                        name="values_in_order",
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("entry", "metric"), name="one_value_of_a_metric")],
            },
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
