from collections.abc import Callable
from typing import Any

import pytest

from server.challenges.models import Challenge, Phase
from server.organize.services.bundles import InvalidBundle

pytestmark = pytest.mark.usefixtures("make", "quick_podium", "inline_queue")

Import = Callable[..., list[str]]
BASELINE = "    baselines: [{name: Center, file: baselines/center.csv}]\n"


def test_a_baseline_is_submitted_once(bundle: Any, run: Import, inline_queue: Any) -> None:
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    said = run()
    run()
    submission = Phase.objects.get().submissions.get()
    assert (submission.team.name, submission.team.is_baseline, submission.user) == ("Center", True, None)
    assert inline_queue.sent == [submission.pk]
    assert "phase main: baseline Center submitted" in said


def test_a_changed_baseline_is_submitted_again(bundle: Any, run: Import) -> None:
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    run()
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\na,\n")
    assert run() == ["phase main: baseline Center submitted"]
    assert Phase.objects.get().submissions.count() == 2


def test_a_new_truth_scores_the_baselines_anew(bundle: Any, run: Import) -> None:
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    run()
    first = Phase.objects.get().submissions.get()
    bundle.write("phases/main/truth/images.csv", "ImageID\na\nb\n")
    run()
    assert Phase.objects.get().submissions.get() != first


def test_a_baseline_named_like_a_team_is_a_mistake(make: Any, bundle: Any, run: Import) -> None:
    run()
    make.team(Challenge.objects.get(), name="CENTER")
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    with pytest.raises(InvalidBundle) as caught:
        run()
    assert [(problem.code, problem.line) for problem in caught.value.problems] == [("baseline_name_taken", 6)]
