"""The migration that adds roles makes every existing organizer an owner."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from server.challenges.models import Organizer
from tests.conftest import Make

BEFORE = [("challenges", "0027_gate")]


@pytest.fixture
def without_roles(make: Make) -> Iterator[None]:
    """Reapply all migrations after a test that has rolled back the migration for roles."""
    yield
    forward()


def forward() -> None:
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate(newest)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("without_roles")
def test_present_organizers_become_owners(make: Make) -> None:
    challenge = make.challenge()
    ada, bob = make.user(username="ada"), make.user(username="bob")
    challenge.organizers.add(ada)
    challenge.organizers.add(bob, through_defaults={"role": "viewer"})
    MigrationExecutor(connection).migrate(BEFORE)
    with connection.cursor() as cursor:
        cursor.execute("SELECT user_id FROM challenges_challenge_organizers ORDER BY user_id")
        assert cursor.fetchall() == [(ada.pk,), (bob.pk,)]
    forward()
    found = Organizer.objects.order_by("user").values_list("user", "role", "given_at")
    assert list(found) == [(ada.pk, "owner", None), (bob.pk, "owner", None)]
