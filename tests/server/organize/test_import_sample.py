"""Only the format of a sample submission is checked, without the ground truth, because the sample is published."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluator.bundle import InvalidBundle
from server.challenges.models import Challenge, Phase
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make", "inline_queue")
SAMPLE = "phases/main/sample_submission.csv"
HEADER = "ImageId,PredictionString\n"


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"\x00\xff\x89 no table", "bad_byte", 1),
        (f"{HEADER}a,\nb,/m/cat 0.5 0.1 0.1 much 0.5\n".encode(), "not_a_number", 3),
        (f"{HEADER}a,\na,\n".encode(), "duplicate_image", 3),
        (f"{HEADER}{'a' * 257},\n".encode(), "field_too_long", 2),
    ],
)
def test_a_sample_with_a_defect_is_a_mistake_with_its_line(
    bundle: BundleFolder, run: Callable[..., list[str]], content: bytes, code: str, line: int
) -> None:
    bundle.write(SAMPLE, content)
    with pytest.raises(InvalidBundle) as caught:
        run()
    assert [(one.code, one.file, one.line) for one in caught.value.problems] == [(code, SAMPLE, line)]
    assert not Challenge.objects.exists()


def test_a_sample_with_images_outside_the_truth_is_published(
    bundle: BundleFolder, run: Callable[..., list[str]]
) -> None:
    sample = bundle.write(SAMPLE, f"{HEADER}example,/m/cat 0.5 0.1 0.1 0.5 0.5\n")
    run()
    assert Path(Phase.objects.get().sample_submission.path).read_bytes() == sample.read_bytes()
