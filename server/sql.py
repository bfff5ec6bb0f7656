"""Plain SQL for frequent queries, because Django takes longer to compile queries than databases take to run them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import JSONField, Model

PLAIN_TYPES = (type(None), bool, int, float, str)
ROWS_AT_ONCE = 50  # Number of rows per INSERT statement. SQLite may limit a statement to 999 parameters.


def select(statement: str, words: Collection[Any], keys: Collection[Any] = ()) -> list[tuple[Any, ...]]:
    """Return the rows that an SQL statement selects.

    The `{}` in the statement is replaced with placeholders for `keys`. The parameters of the statement are `words`,
    followed by `keys`.
    """
    with connection.cursor() as cursor:
        cursor.execute(statement.format(marks(keys)), [*words, *keys])
        return list(cursor.fetchall())


def execute(statement: str, words: Collection[Any], keys: Collection[Any] = ()) -> int:
    """Run a statement that returns no rows, with the same parameters as `select`. Return the number of changed rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement.format(marks(keys)), [*words, *keys])
        return int(cursor.rowcount)


def insert(
    rows: Iterable[Model], *, unique: Sequence[str] = (), renewed: Sequence[str] = (), held_by: str = ""
) -> None:
    """Insert instances of one model as rows, and set their ids.

    If a stored row has the same values in the fields `unique`, only the fields `renewed` of that row are updated
    instead. A stored row does not change if its field `held_by` is not null.
    """
    found = list(rows)
    for start in range(0, len(found), ROWS_AT_ONCE):
        some = found[start : start + ROWS_AT_ONCE]
        statement, words = insertion(some, unique=unique, renewed=renewed, held_by=held_by)
        for row, (key,) in zip(some, select(statement, words), strict=True):
            row.pk = key
            row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def insertion(
    rows: Sequence[Model], *, unique: Sequence[str], renewed: Sequence[str], held_by: str
) -> tuple[str, list[Any]]:
    """Return an INSERT statement that stores these model instances, and the parameters of the statement."""
    meta: Any = rows[0]._meta
    database = connections[DEFAULT_DB_ALIAS]  # The proxy `connection` would be resolved again for every value.
    fields = [field for field in meta.concrete_fields if field is not meta.pk]
    words = [prepared(field, getattr(row, field.attname), database) for row in rows for field in fields]
    columns = ", ".join(database.ops.quote_name(field.column) for field in fields)
    values = ", ".join([f"({marks(fields)})"] * len(rows))
    statement = f"INSERT INTO {meta.db_table} ({columns}) VALUES {values}"
    if unique:
        keys = ", ".join(meta.get_field(name).column for name in unique)
        changes = ", ".join(renewal(meta, name, held_by) for name in renewed)
        statement += f" ON CONFLICT ({keys}) DO UPDATE SET {changes}"
    return f"{statement} RETURNING id", words


def prepared(field: Any, value: Any, database: BaseDatabaseWrapper) -> Any:
    """Convert the value of a field to the type that the database expects.

    Django's conversion is skipped for values that it would not change, because converting a value takes as long as
    storing it.
    """
    if type(value) in PLAIN_TYPES and not isinstance(field, JSONField):
        return value
    return field.get_db_prep_save(value, database)


def renewal(meta: Any, name: str, held_by: str) -> str:
    """Return the SQL assignment that updates a field of a stored row.

    If the row's field `held_by` is not null, the field keeps its value. It is assigned to itself, because RETURNING
    leaves out rows that are not updated.
    """
    if not held_by:
        return f"{name} = excluded.{name}"
    table, holder = meta.db_table, meta.get_field(held_by).column
    return f"{name} = CASE WHEN {table}.{holder} IS NULL THEN excluded.{name} ELSE {table}.{name} END"


def update(model: type[Model], keys: Collection[Any], *, where: Mapping[str, Any] | None = None, **values: Any) -> int:
    """Set fields to the given values in all rows of a model that have one of the ids in `keys`.

    Rows are not changed if a field differs from its value in `where`. Return the number of changed rows.
    """
    if not keys:
        return 0
    meta, database = cast(Any, model._meta), connections[DEFAULT_DB_ALIAS]
    changes, words = equations(meta, values, database)
    conditions, required = equations(meta, where or {}, database)
    rows = " AND ".join([*conditions, f"{meta.pk.column} IN ({{}})"])
    ids = [meta.pk.get_db_prep_value(key, database) for key in keys]
    return execute(f"UPDATE {meta.db_table} SET {', '.join(changes)} WHERE {rows}", [*words, *required], ids)


def equations(meta: Any, values: Mapping[str, Any], database: BaseDatabaseWrapper) -> tuple[list[str], list[Any]]:
    """Return the SQL text `column = %s` for each field, and the values as the database expects them."""
    fields = [meta.get_field(name) for name in values]
    columns = [f"{database.ops.quote_name(field.column)} = %s" for field in fields]
    return columns, [prepared(field, value, database) for field, value in zip(fields, values.values(), strict=True)]


def row_lock(of: str = "") -> str:
    """Return the SQL clause that locks the selected rows, or only those of the table `of` if a query joins several.

    The clause is empty for SQLite, which locks the whole database.
    """
    if not connection.features.has_select_for_update:
        return ""
    return connection.ops.for_update_sql(no_key=True, of=(of,) if of else ())


def in_utc(moment: datetime) -> datetime:
    """Return a time from the database with UTC as its time zone, because SQLite stores no time zone."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def marks(words: Collection[Any]) -> str:
    """Return a placeholder for each parameter.

    Without parameters, return NULL, because `IN ()` is not valid SQL and `IN (NULL)` is never true.
    """
    return ", ".join(["%s"] * len(words)) or "NULL"
