"""A user who imports a bundle becomes an organizer of the challenge, unless the user is a participant in it."""

from collections.abc import Callable

import pytest

from evaluator.bundle import InvalidBundle
from server.challenges.models import Challenge
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

Import = Callable[..., list[str]]


@pytest.mark.usefixtures("quick_podium", "inline_queue")
def test_a_participant_cannot_become_the_organizer_by_an_import(make: Make, bundle: BundleFolder, run: Import) -> None:
    run()
    ada = make.user(username="ada")
    challenge = Challenge.objects.get()
    make.team(challenge, ada, name="Aurora")
    with pytest.raises(InvalidBundle) as caught:
        run(by=ada)
    (problem,) = caught.value.problems
    assert (problem.code, "ada is in team Aurora" in problem.message) == ("organizer_competes", True)
    assert not challenge.organizers.exists()
