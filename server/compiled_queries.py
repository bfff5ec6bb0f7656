"""Queries that are compiled to SQL only once.

For Django, building and compiling a queryset takes about ten times as long as running it. With `compiled_query`, pages
that are read often do this once, and querysets still decide what a person may see.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import wraps
from json import dumps
from operator import add
from typing import Any, Generic, ParamSpec, TypeVar, cast
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet, Value
from django.db.models.query import ModelIterable, ValuesListIterable, get_related_populators

Arguments = ParamSpec("Arguments")
Row = TypeVar("Row")

STATEMENTS_MAX = 500  # maximum number of statements compiled for one function
FIELDS: Mapping[type, type["models.Field[Any, Any]"]] = {
    int: models.BigIntegerField,
    float: models.FloatField,
    str: models.TextField,
    datetime: models.DateTimeField,
    date: models.DateField,  # after datetime, which is a subclass
    UUID: models.UUIDField,
}


def compiled_query(build: Callable[Arguments, QuerySet[Any, Row]]) -> Callable[Arguments, list[Row]]:
    """Turn a function that returns a queryset into one that returns its rows and compiles the queryset only once.

    Arguments are given by keyword. For numbers, strings, times, dates, and lists of whole numbers or UUIDs, the
    function gets placeholders, which it can only pass to the queryset. It gets None, booleans and ranges unchanged, and
    the queryset is compiled separately for each of their values. The rows are models, with annotations and
    `select_related`, or tuples by `values_list`. Prefetching is not supported.
    """
    statements: dict[object, Statement[Row]] = {}

    @wraps(build)
    def rows(*_: Arguments.args, **given: Arguments.kwargs) -> list[Row]:
        connection = connections["default"]
        key = (connection.vendor, *(value if is_constant(value) else kind_of(value) for value in given.values()))
        if key not in statements:
            if len(statements) >= STATEMENTS_MAX:
                statements.clear()
            arguments = {name: argument(name, value) for name, value in given.items()}
            statements[key] = Statement(cast(Any, build)(**arguments), connection)
        return list(statements[key].rows(given, connection))

    return rows


def is_constant(value: object) -> bool:
    """Return whether the SQL of a query depends on this argument."""
    return value is None or isinstance(value, bool | range)


def argument(name: str, value: object) -> Any:
    """Return a placeholder for an argument, or the argument itself if the SQL depends on it."""
    if is_constant(value):
        return value
    is_list, kind = kind_of(value)
    field = next(field for one, field in FIELDS.items() if issubclass(kind, one))()
    return ListPlaceholder(name, field) if is_list else Placeholder(name, field)


def kind_of(value: Any) -> tuple[bool, type]:
    """Return whether a value is a list, and the type of its elements or, if it is not a list, of the value."""
    return (True, type(value[0]) if value else int) if isinstance(value, list) else (False, type(value))


class Placeholder(Value):
    """A placeholder for an argument in a compiled query."""

    def __init__(self, name: str, field: "models.Field[Any, Any]") -> None:
        super().__init__(name, output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        return "%s", [self]

    def parameter(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        """Return the argument in the form in which it is passed to the database."""
        return self.output_field.get_db_prep_value(value, connection)


class ListPlaceholder(Placeholder):
    """A placeholder for a list in a condition of a compiled query, such as `pk__in`."""

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        kind = self.output_field.db_type(connection)
        values = f"unnest(%s::{kind}[])" if connection.vendor == "postgresql" else "value FROM json_each(%s)"
        return f"(SELECT {values})", [self]

    def parameter(self, value: list[Any], connection: BaseDatabaseWrapper) -> Any:
        elements = [super(ListPlaceholder, self).parameter(one, connection) for one in value]
        return elements if connection.vendor == "postgresql" else dumps(elements)


class Statement(Generic[Row]):
    """A compiled query. Threads share it, so it does not use the connection with which it was compiled."""

    def __init__(self, queryset: QuerySet[Any, Row], connection: BaseDatabaseWrapper) -> None:
        kind: object = queryset._iterable_class
        prefetched = queryset._prefetch_related_lookups  # type: ignore[attr-defined]
        if kind not in (ModelIterable, ValuesListIterable) or prefetched:
            raise TypeError("a compiled query returns models or tuples, without prefetching")
        compiler = queryset.query.get_compiler(connection=connection)
        try:
            self.sql, self.parameters = compiler.as_sql()
        except EmptyResultSet:  # no row can meet the conditions
            self.sql, self.parameters = "", ()
        if connection.vendor == "postgresql":
            self.sql, self.parameters = with_literals(self.sql, self.parameters, connection)
        self.converters = list(compiler.get_converters([column for column, *_ in compiler.select]).items())
        self.made = model_maker(compiler) if kind is ModelIterable else tuple

    def rows(self, arguments: Mapping[str, Any], connection: BaseDatabaseWrapper) -> Iterator[Row]:
        if not self.sql:
            return
        with connection.cursor() as cursor:
            cursor.execute(
                self.sql,
                [
                    one.parameter(arguments[one.name], connection) if isinstance(one, Placeholder) else one
                    for one in self.parameters
                ],
            )
            found = cursor.fetchall()
        for values in map(list, found):
            for index, (converters, column) in self.converters:
                for convert in converters:
                    values[index] = convert(values[index], column, connection)
            yield cast(Row, self.made(values))


def with_literals(sql: str, parameters: Sequence[Any], connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
    """Write the constants of a statement into its SQL, because psycopg would convert them again at each execution."""
    parts, kept = sql.split("%s"), tuple(one for one in parameters if isinstance(one, Placeholder))
    compose = connection.ops.compose_sql  # type: ignore[attr-defined]  # django-stubs does not know it
    values = ["%s" if isinstance(one, Placeholder) else compose("%s", [one]).replace("%", "%%") for one in parameters]
    return "".join(map(add, parts, [*values, ""])), kept


def model_maker(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that builds a model instance from a row, as `ModelIterable` does."""
    info = compiler.klass_info
    first, last = info["select_fields"][0], info["select_fields"][-1]
    names = [column.target.attname for column, *_ in compiler.select[first : last + 1]]
    related = get_related_populators(info, compiler.select, "default")  # type: ignore[call-arg]  # not in Django 5.2
    annotations = compiler.annotation_col_map.items()

    def made(values: Sequence[Any]) -> Any:
        model = info["model"].from_db("default", names, values[first : last + 1])
        for one in related:
            one.populate(values, model)
        for name, index in annotations:
            setattr(model, name, values[index])
        return model

    return made


def set_related(ones: Iterable[models.Model], relation: str, rows: Sequence[models.Model], by: str) -> None:
    """Store related rows on the objects `ones` and set the reverse reference `by`, as `prefetch_related` does.

    Afterwards, `all()` is the only method of the relation that uses the stored rows.
    """
    key = f"{by}_id"
    groups: dict[Any, list[models.Model]] = {}
    for row in rows:
        groups.setdefault(getattr(row, key), []).append(row)
    for one in ones:
        own = groups.get(one.pk, [])
        vars(one).setdefault("_prefetched_objects_cache", {})[relation] = own
        for row in own:
            row._state.fields_cache[by] = one
