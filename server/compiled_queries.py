"""Queries that are compiled to SQL only once.

Django takes about ten times as long to build and compile a queryset as the database takes to run it. With
`compiled_query`, a frequent query is built and compiled only once. It is still defined by a queryset, so the usual
access rules apply.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import wraps
from json import dumps
from operator import add, itemgetter
from typing import Any, Generic, ParamSpec, TypeVar, cast
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet, Value
from django.db.models.base import ModelState
from django.db.models.query import ModelIterable, NamedValuesListIterable, ValuesListIterable
from django.db.models.utils import create_namedtuple_class

Arguments = ParamSpec("Arguments")
Row = TypeVar("Row")

STATEMENTS_MAX = 500  # maximum number of compiled SQL statements that are cached for one function
FIELDS: Mapping[type, type["models.Field[Any, Any]"]] = {
    int: models.BigIntegerField,
    float: models.FloatField,
    str: models.TextField,
    datetime: models.DateTimeField,
    date: models.DateField,  # `date` must follow `datetime`, its subclass, because the first matching class is used.
    UUID: models.UUIDField,
}


def compiled_query(build: Callable[Arguments, QuerySet[Any, Row]]) -> Callable[Arguments, list[Row]]:
    """Turn a function that returns a queryset into one that returns its rows and compiles the queryset only once.

    Arguments are passed by keyword. For numbers, strings, times, dates, and lists of integers or UUIDs, the function
    receives placeholders, which it can only pass on to the queryset. None, booleans and ranges are passed unchanged,
    and the queryset is compiled separately for each of their values. The rows are model instances (with annotations and
    `select_related`) or, if the queryset uses `values_list`, tuples or named tuples. Prefetching is not supported.
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
    """Return whether the SQL text depends on the value of an argument, so that no placeholder can be used for it."""
    return value is None or isinstance(value, bool | range)


def argument(name: str, value: object) -> Any:
    """Return a placeholder for an argument, or the argument itself if the SQL text depends on its value."""
    if is_constant(value):
        return value
    is_list, kind = kind_of(value)
    field = next(field for one, field in FIELDS.items() if issubclass(kind, one))()
    return ListPlaceholder(name, field) if is_list else Placeholder(name, field)


def kind_of(value: Any) -> tuple[bool, type]:
    """Return whether a value is a list, and the type of the value or, for a list, of its elements."""
    return (True, type(value[0]) if value else int) if isinstance(value, list) else (False, type(value))


class Placeholder(Value):
    """A placeholder for an argument in the SQL of a compiled query."""

    def __init__(self, name: str, field: "models.Field[Any, Any]") -> None:
        super().__init__(name, output_field=field)
        self.name = name

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        return "%s", [self]

    def parameter(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        """Convert the argument to the type that the database expects."""
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
    """A compiled query.

    Threads share instances of this class. Therefore, an instance does not keep the connection that was used to compile
    the query.
    """

    def __init__(self, queryset: QuerySet[Any, Row], connection: BaseDatabaseWrapper) -> None:
        compiler = queryset.query.get_compiler(connection=connection)
        try:
            sql, parameters = compiler.as_sql()
        # Django raises EmptyResultSet instead of compiling SQL if the conditions of the queryset exclude every row.
        except EmptyResultSet:
            sql, parameters = "", ()
        self.placeholders = {one.name: one for one in parameters if isinstance(one, Placeholder)}
        self.sql, self.constants = with_names(sql, parameters, connection)
        self.converters = list(compiler.get_converters([column for column, *_ in compiler.select]).items())
        self.made = row_maker(queryset, compiler)

    def rows(self, arguments: Mapping[str, Any], connection: BaseDatabaseWrapper) -> Iterator[Row]:
        if not self.sql:
            return
        given = {name: one.parameter(arguments[name], connection) for name, one in self.placeholders.items()}
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute(self.sql % literals(given, connection))
            else:
                cursor.execute(self.sql, self.constants | given)
            found = cursor.fetchall()
        if not self.converters:
            yield from map(self.made, found)
            return
        for values in map(list, found):
            for index, (converters, column) in self.converters:
                if values[index] is not None:
                    for convert in converters:
                        values[index] = convert(values[index], column, connection)
            yield cast(Row, self.made(values))


def literals(given: Mapping[str, Any], connection: BaseDatabaseWrapper) -> dict[str, str]:
    """Return values as SQL literals for PostgreSQL.

    If psycopg received the values as parameters, it would parse a long SQL statement at each execution to find the
    placeholders. It caches the result of parsing only for statements of up to 4,096 characters.
    """
    from psycopg.sql import quote  # psycopg is imported here, because an installation with SQLite does not need it.

    return {name: quote(value, connection.connection) for name, value in given.items()}


def with_names(sql: str, parameters: Sequence[Any], connection: BaseDatabaseWrapper) -> tuple[str, dict[str, Any]]:
    """Return an SQL statement whose parameters have names, and a dict with the values of its constant parameters.

    A constant parameter has the same value at each execution. For PostgreSQL, constants are written into the SQL,
    because psycopg would convert them again at each execution. The dict is then empty. For SQLite, all parameters need
    names. Without names, Django would search the SQL for placeholders at each execution, which takes as long as a small
    query.
    """
    constants: dict[str, Any] = {}
    words = []
    for number, one in enumerate(parameters):
        if isinstance(one, Placeholder):
            words.append(f"%({one.name})s")
        elif connection.vendor == "postgresql":
            literal = connection.ops.compose_sql("%s", [one])  # type: ignore[attr-defined]  # unknown to django-stubs
            words.append(literal.replace("%", "%%"))
        else:
            constants[f"constant_{number}"] = one
            words.append(f"%(constant_{number})s")
    return "".join(map(add, sql.split("%s"), [*words, ""])), constants


def row_maker(queryset: QuerySet[Any, Any], compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that converts a database row to the object that the queryset yields."""
    kind: object = queryset._iterable_class
    if not queryset._prefetch_related_lookups:  # type: ignore[attr-defined]
        if kind is ModelIterable:
            return annotated_model_maker(compiler)
        if kind is NamedValuesListIterable:
            return create_namedtuple_class(*queryset._fields)._make  # type: ignore[attr-defined]  # not in django-stubs
        if kind is ValuesListIterable:
            return tuple
    raise TypeError("a compiled query returns models or tuples, without prefetching")


def model_maker(info: dict[str, Any], compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that builds a model instance from a row, with its related instances.

    The result is the same as that of `ModelIterable`. For speed, `Model.__init__` is not called, because it takes as
    long as a small query. Therefore the signals `pre_init` and `post_init` are not sent.
    """
    model = info["model"]
    names = [compiler.select[index][0].target.attname for index in info["select_fields"]]
    key = info["select_fields"][names.index(model._meta.pk.attname)]
    pick = picker(info["select_fields"])
    related = [
        (model_maker(one, compiler), one["local_setter"], one["remote_setter"])
        for one in info.get("related_klass_infos", ())
    ]

    def made(values: Sequence[Any]) -> Any:
        if values[key] is None:  # The primary key is null if the outer join found no related row.
            return None
        one = model.__new__(model)
        one._state = ModelState()
        one._state.adding, one._state.db = False, "default"
        vars(one).update(zip(names, pick(values), strict=True))
        for make, set_local, set_remote in related:
            other = make(values)
            set_local(one, other)
            if other is not None:
                set_remote(other, one)
        return one

    return made


def annotated_model_maker(compiler: Any) -> Callable[[Sequence[Any]], Any]:
    """Return a function that builds a model instance from a row, with its related instances and annotations."""
    annotations = list(compiler.annotation_col_map)
    pick = picker(list(compiler.annotation_col_map.values()))
    make = model_maker(compiler.klass_info, compiler)

    def made(values: Sequence[Any]) -> Any:
        one = make(values)
        vars(one).update(zip(annotations, pick(values), strict=True))
        return one

    return made


def picker(indexes: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return a function that returns the values of a row at the given indexes. It is several times faster than a loop.

    >>> picker([2, 0])("abc")
    ('c', 'a')
    """
    if len(indexes) < 2:  # For a single index, `itemgetter` returns the value instead of a tuple.
        return lambda values: [values[index] for index in indexes]
    return itemgetter(*indexes)


def set_related(ones: Iterable[models.Model], relation: str, rows: Sequence[models.Model], by: str) -> None:
    """Store related rows on the objects in `ones`, and link each row back to its object through the field `by`.

    The effect is the same as that of `prefetch_related`: only `all()` uses the stored rows, and other methods of the
    relation query the database.
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
