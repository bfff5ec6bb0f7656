"""Functions that lock database rows. All transactions take locks in the same order; see `audit.services.record`."""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection
from django.db.models import Model

from server.challenges.models import Phase, Team
from server.sql import row_lock, select


def lock_phase(phase: int) -> None:
    """Lock the row of a phase, so that no rescoring of the phase can be applied at the same time."""
    lock(Phase, [phase])


def lock_teams(teams: Iterable[int]) -> None:
    """Lock the rows of teams, in the order of their ids.

    Any code that changes a team's entry on a leaderboard must hold this lock, so that the changes do not overlap.
    """
    lock(Team, teams)


def lock(model: type[Model], keys: Iterable[int | UUID]) -> None:
    """Lock rows of a model in the order of their ids, without loading their data.

    On SQLite, this has no effect, because a transaction locks the whole database when it begins.
    """
    assert connection.in_atomic_block
    if suffix := row_lock():
        stored = [model._meta.pk.get_db_prep_value(key, connection) for key in keys]
        select(f'SELECT id FROM "{model._meta.db_table}" WHERE id IN ({{}}) ORDER BY id {suffix}', (), stored)
