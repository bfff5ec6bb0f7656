"""An import turns a challenge into a draft only if nobody has joined it, and cancels a scheduled publication."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from evaluator.bundle import InvalidBundle
from server.challenges.models import Challenge
from server.clock import database_now
from server.organize.models import Publication
from server.organize.services.consent import Consent
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make", "quick_podium", "inline_queue")

Import = Callable[..., list[str]]


@pytest.fixture
def imported(bundle: BundleFolder, run: Import) -> Challenge:
    """Import a public challenge, and change the bundle so that the next import turns it into a draft."""
    run()
    bundle.sheet(challenge="visibility: draft\n")
    return Challenge.objects.get()


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_a_challenge_that_nobody_has_joined_becomes_a_draft_without_consent(
    imported: Challenge, run: Import, visibility: str
) -> None:
    Challenge.objects.update(visibility=visibility)
    assert run() == ["challenge animals: visibility changed"]


def test_a_challenge_that_somebody_has_joined_does_not_become_a_draft(
    imported: Challenge, run: Import, make: Make
) -> None:
    make.team(imported)
    with pytest.raises(InvalidBundle) as caught:
        run(consent=Consent(reveal=True, force=True))
    assert [problem.code for problem in caught.value.problems] == ["change_refused"]
    assert Challenge.objects.get().visibility == "public"


def test_an_import_that_publishes_a_draft_cancels_its_scheduled_publication(
    bundle: BundleFolder, imported: Challenge, run: Import
) -> None:
    run()
    Publication.objects.create(challenge=imported, at=database_now() + timedelta(hours=1), visibility="unlisted")
    bundle.sheet(challenge="visibility: public\n")
    run()
    assert Challenge.objects.get().visibility == "public"
    assert not Publication.objects.exists()
