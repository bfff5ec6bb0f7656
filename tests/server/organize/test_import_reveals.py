"""An import makes private images of a running phase public only if the organizer consents."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluator.bundle import InvalidBundle
from server.challenges.models import Challenge, Phase
from server.organize.services.consent import Consent
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make", "inline_queue")
USAGE = "ImageID,Usage\na,Public\nb,Private\n"


@pytest.fixture
def moved(bundle: BundleFolder, run: Callable[..., list[str]]) -> Phase:
    """Import a phase with a private image, and then make this image public in the bundle."""
    bundle.write("phases/main/usage.csv", USAGE)
    run()
    bundle.write("phases/main/usage.csv", USAGE.replace("Private", "Public"))
    return Phase.objects.get()


def refused(run: Any) -> str:
    with pytest.raises(InvalidBundle) as caught:
        run()
    (problem,) = caught.value.problems
    assert problem.code == "would_reveal"
    return problem.message


def test_a_truth_with_more_public_images_requires_the_reveal_option(
    moved: Phase, run: Callable[..., list[str]]
) -> None:
    assert "phase main: 1 private image would become public" in refused(run)
    run(consent=Consent(reveal=True))
    assert Phase.objects.get().signature != moved.signature


def test_a_truth_that_cannot_be_compared_requires_the_reveal_option(
    moved: Phase, run: Callable[..., list[str]]
) -> None:
    assert moved.truth is not None
    for file in (moved.truth.prepared, moved.truth.source):
        Path(file.path).write_bytes(b"damaged")
    assert "it is unknown what the new truth would reveal" in refused(run)


def test_before_a_challenge_opens_images_can_become_public(moved: Phase, run: Callable[..., list[str]]) -> None:
    Challenge.objects.update(opens_at=datetime.now(UTC) + timedelta(days=1))
    assert "truth version 2" in " ".join(run())
