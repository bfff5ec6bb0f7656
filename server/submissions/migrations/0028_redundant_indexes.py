"""Drops indexes of foreign keys that repeat the beginning of another index.

Django's AlterField would also drop and recreate the foreign key itself. On PostgreSQL, this checks every row of the table
while nobody can use the table.
"""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

# (model, field, related model, related name)
FOREIGN_KEYS = (
    ("evaluation", "submission", "submissions.submission", "evaluations"),
    ("explanation", "evaluation", "submissions.evaluation", "explanations"),
    ("replicates", "evaluation", "submissions.evaluation", "replicates"),
    ("rerun", "submission", "submissions.submission", "reruns"),
    ("score", "evaluation", "submissions.evaluation", "scores"),
    ("submission", "phase", "challenges.phase", "submissions"),
)


def drop_indexes(apps: Any, schema_editor: Any) -> None:
    connection = schema_editor.connection
    for name, field, *_ in FOREIGN_KEYS:
        model = apps.get_model("submissions", name)
        table, column = model._meta.db_table, model._meta.get_field(field).column
        with connection.cursor() as cursor:
            found = connection.introspection.get_constraints(cursor, table)
        for index, facts in found.items():
            if facts["index"] and facts["columns"] == [column] and not facts["unique"]:
                schema_editor.execute(f"DROP INDEX {schema_editor.quote_name(index)}")


def create_indexes(apps: Any, schema_editor: Any) -> None:
    for name, field, *_ in FOREIGN_KEYS:
        model = apps.get_model("submissions", name)
        schema_editor.execute(schema_editor._create_index_sql(model, fields=[model._meta.get_field(field)]))


def without_index(model: str, field: str, to: str, name: str) -> migrations.AlterField:
    cascade = django.db.models.deletion.CASCADE
    foreign_key = models.ForeignKey(db_index=False, on_delete=cascade, related_name=name, to=to)
    return migrations.AlterField(model_name=model, name=field, field=foreign_key)


class Migration(migrations.Migration):
    dependencies = [
        ("challenges", "0040_plainer_texts"),
        ("submissions", "0027_plainer_texts"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop_indexes, create_indexes)],
            state_operations=[without_index(*foreign_key) for foreign_key in FOREIGN_KEYS],
        ),
    ]
