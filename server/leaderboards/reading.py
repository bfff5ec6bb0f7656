"""Reads a challenge together with the current leaderboards of its phases in one query."""

from typing import Any

from django.db.models import Aggregate, F, JSONField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import JSONObject

from server.challenges.models import Phase
from server.challenges.reading import ReadChallenge, read_challenge, seen_phases
from server.compiled_queries import compiled_query
from server.leaderboards.models import Board

FIELDS = [field.attname for field in Board._meta.concrete_fields]


class JsonRows(Aggregate):
    """An aggregate that returns the rows of a subquery as a JSON list."""

    function = "JSONB_AGG"
    output_field = JSONField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSON_GROUP_ARRAY", **extra_context)


def read_with_boards(user: Any, slug: str) -> ReadChallenge | None:
    """Return the challenge with the given slug and its current leaderboards.

    Return None if the challenge does not exist or the user may not see it.
    """
    return read_challenge(user, slug, phases=phases_with_boards)


@compiled_query
def phases_with_boards(*, slug: str, user: int | None, is_staff: bool) -> QuerySet[Any]:
    """Return the phases of a challenge, each with the leaderboards for its current evaluation signature.

    A signature names the track, parameters, ground truth and evaluator version of scores. Private leaderboards with
    other signatures (from before a rescoring, for example) are also included if they ever had an entry, because this
    shows that the phase has private images.
    """
    boards = Board.objects.order_by().filter(phase=OuterRef("pk"))
    fields = JSONObject(**{name: F(name) for name in FIELDS})
    shown = boards.filter(Q(signature=OuterRef("signature")) | Q(kind=Board.Kind.PRIVATE, version__gt=0))
    listed = Subquery(shown.values("phase").annotate(rows=JsonRows(fields)).values("rows"))
    return seen_phases(slug=slug, user=user, is_staff=is_staff).annotate(read_boards=listed)


def boards_read_with(phase: Phase, **values: str) -> list[Board] | None:
    """Return the leaderboards that were loaded together with a phase and have the given field values.

    Return None if the phase was loaded without its leaderboards.
    """
    if not hasattr(phase, "read_boards"):
        return None
    found = (one for one in phase.read_boards or () if all(one[name] == value for name, value in values.items()))
    return [Board.from_db("default", FIELDS, [one[name] for name in FIELDS]) for one in found]


def has_private(phase: Phase) -> bool:
    """Return whether the phase's private leaderboard has, or ever had, an entry."""
    found = boards_read_with(phase, kind=Board.Kind.PRIVATE)
    return bool(used_private_boards(phase=phase.pk)) if found is None else any(board.version for board in found)


@compiled_query
def used_private_boards(*, phase: int) -> QuerySet[Board]:
    return Board.objects.filter(phase=phase, kind=Board.Kind.PRIVATE, version__gt=0)[:1]
