from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError, connection

from evaluator.bundle import InvalidBundle
from server.audit.models import Entry
from server.challenges.feedback_leakage import PER_CLASS
from server.challenges.models import Challenge, Phase, Truth
from server.organize.services import importing
from server.organize.services.consent import Consent
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.usefixtures("make", "quick_podium", "inline_queue")

Import = Callable[..., list[str]]
SECOND = "  - slug: second\n    track: openimages-detection\n"
BASELINE = "    baselines: [{name: Center, file: baselines/center.csv}]\n"


def codes_of(run: Import) -> list[tuple[str, int | None]]:
    with pytest.raises(InvalidBundle) as caught:
        run()
    return [(problem.code, problem.line) for problem in caught.value.problems]


def stored() -> set[Path]:
    """Return the paths of all stored files of ground truths and uploads."""
    folders = (Path(settings.TRUTH_ROOT), Path(settings.MEDIA_ROOT))
    return {path for folder in folders for path in folder.rglob("*") if path.is_file()}


def second(bundle: BundleFolder) -> None:
    for name in ("boxes.csv", "image_labels.csv"):
        bundle.write(f"phases/second/truth/{name}", (bundle.path / "phases/main/truth" / name).read_bytes())


def test_a_bundle_becomes_a_challenge_with_its_phase_and_truth(run: Import) -> None:
    said = run()
    phase = Phase.objects.get()
    assert (phase.challenge.slug, phase.slug, phase.track) == ("animals", "main", "openimages-detection")
    assert phase.truth is not None
    assert (phase.truth.version, phase.truth.images) == (1, 2)
    assert f"truth:{phase.truth.sha256[:12]}" in phase.signature
    assert Path(phase.sample_submission.path).read_bytes() == b"ImageId,PredictionString\na,\n"
    assert len(said) == 3


@pytest.mark.django_db(transaction=True)
def test_files_are_kept_if_the_response_to_the_commit_is_lost(
    bundle: BundleFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = connection.commit

    def commit_and_break() -> None:
        commit()
        raise OperationalError("the connection broke")

    with monkeypatch.context() as broken:
        broken.setattr(connection, "commit", commit_and_break)
        with pytest.raises(OperationalError, match="broke"):
            importing.import_bundle(path=bundle.path, by=None)
    assert Path(Truth.objects.get().prepared.path).is_file()
    assert Path(Truth.objects.get().source.path).is_file()


def test_a_challenge_opens_at_its_first_import_by_default(run: Import) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    run()
    opened = Challenge.objects.get().opens_at
    assert before <= opened <= datetime.now(UTC)
    run()
    assert Challenge.objects.get().opens_at == opened


def test_importing_the_same_bundle_again_changes_nothing(bundle: BundleFolder, run: Import) -> None:
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.sheet(phase=BASELINE)
    run()
    before = stored(), list(Truth.objects.values()), list(Phase.objects.values()), list(Challenge.objects.values())
    entries = Entry.objects.count()
    assert run() == ["nothing changed"]
    after = stored(), list(Truth.objects.values()), list(Phase.objects.values()), list(Challenge.objects.values())
    assert (after, Entry.objects.count()) == (before, entries)


def test_a_folder_and_its_zip_are_the_same_bundle(bundle: BundleFolder, run: Import, tmp_path: Path) -> None:
    run()
    said: list[str] = []
    importing.import_bundle(path=bundle.zipped(tmp_path / "bundle.zip"), by=None, report=said.append)
    assert said == ["nothing changed"]


def test_texts_dates_and_quota_may_change_while_teams_submit(make: Make, bundle: BundleFolder, run: Import) -> None:
    run()
    make.submission(Phase.objects.get())
    bundle.write("rules.md", "Be fair.")
    bundle.sheet(challenge="closes_at: 2099-01-01\n", phase="    quota: {per_day: 7}\n    feedback: {classes: true}\n")
    assert run(consent=Consent(reveal=True)) == [
        "challenge animals: rules, closes_at changed",
        "phase main: quota_per_day, feedback_classes changed",
        f"phase main: {PER_CLASS}",
    ]
    assert Phase.objects.get().truths.count() == 1


def test_a_new_ladder_has_two_standard_errors_and_an_existing_one_keeps_its_margin(
    bundle: BundleFolder, run: Import
) -> None:
    bundle.sheet(phase="    feedback: {scores: ladder}\n")
    run()
    assert Phase.objects.get().ladder_standard_errors == 2
    # Ladder feedback shows a score only if it exceeds the team's best by a margin. A migration has set this margin to
    # one standard error for all phases from earlier versions of Podium. Simulate such a phase.
    Phase.objects.update(ladder_standard_errors=1)
    assert run() == ["nothing changed"]
    assert Phase.objects.get().ladder_standard_errors == 1
    bundle.sheet(phase="    feedback: {scores: ladder}\n    ladder: {standard_errors: 2.5}\n")
    assert run() == ["phase main: ladder_standard_errors changed"]
    assert Phase.objects.get().ladder_standard_errors == 2.5


@pytest.mark.parametrize(
    "lines",
    ["parameters: {iou_threshold: 0.6}", "split: {public: 0.5, seed: 1}", "truth", "track"],
)
def test_changes_that_affect_scores_are_refused_once_teams_have_submitted(
    make: Make, bundle: BundleFolder, run: Import, lines: str
) -> None:
    run()
    make.submission(Phase.objects.get())
    kept = stored()
    if lines == "truth":
        bundle.write("phases/main/truth/images.csv", "ImageID\na\nb\n")
    elif lines == "track":
        bundle.sheet(text=(bundle.path / "challenge.yaml").read_text().replace("detection", "relationships"))
        bundle.write("phases/main/truth/relationships.csv", "ImageID\n")
    else:
        bundle.sheet(phase=f"    {lines}\n")
    assert codes_of(run) == [("phase_in_use", 4)]
    assert stored() == kept


@pytest.mark.parametrize("parameter", ["require_all_images: true", "iou_threshold: 0.5"])
def test_changes_that_affect_no_score_are_allowed_after_submissions(
    make: Make, bundle: BundleFolder, run: Import, parameter: str
) -> None:
    run()
    make.submission(Phase.objects.get())
    bundle.sheet(phase=f"    parameters: {{{parameter}}}\n")
    run()
    assert Phase.objects.get().truths.count() == 1


def test_before_the_first_submission_a_different_truth_becomes_the_next_version(
    bundle: BundleFolder, run: Import
) -> None:
    run()
    bundle.write("phases/main/truth/images.csv", "ImageID\na\nb\n")
    run()
    assert [(truth.version, truth.active) for truth in Truth.objects.all()] == [(2, True), (1, False)]
    phase = Phase.objects.get()
    assert phase.truth is not None
    assert f"truth:{phase.truth.sha256[:12]}" in phase.signature


def test_before_the_first_submission_new_parameters_prepare_the_same_version_again(
    bundle: BundleFolder, run: Import
) -> None:
    run()
    kept = stored()
    bundle.sheet(phase="    parameters: {expand_hierarchy: false}\n")
    run()
    assert "hierarchy:none" in Phase.objects.get().signature
    assert [(truth.version, truth.active) for truth in Truth.objects.all()] == [(1, True)]
    assert (len(stored()), len(stored() - kept)) == (len(kept), 3)


def test_a_phase_of_an_earlier_evaluator_is_updated_while_nobody_has_submitted(run: Import) -> None:
    run()
    Phase.objects.update(signature="openimages-detection|evaluator:0.9.0")
    run()
    assert "evaluator:0.9.0" not in Phase.objects.get().signature


def test_a_phase_of_an_earlier_evaluator_does_not_change_once_teams_have_submitted(make: Make, run: Import) -> None:
    run()
    make.submission(Phase.objects.get())
    Phase.objects.update(signature="openimages-detection|evaluator:0.9.0")
    assert run() == ["nothing changed"]


def test_a_phase_that_is_missing_from_the_bundle_is_removed_with_its_files(bundle: BundleFolder, run: Import) -> None:
    run()
    kept = stored()
    second(bundle)
    bundle.sheet(phase=SECOND)
    run()
    assert len(stored()) == len(kept) + 4
    bundle.sheet()
    assert run(consent=Consent(reveal=True)) == ["phase second: removed"]
    assert stored() == kept


def test_a_phase_with_submissions_is_not_removed_if_it_is_missing_from_the_bundle(
    make: Make, bundle: BundleFolder, run: Import
) -> None:
    second(bundle)
    bundle.sheet(phase=SECOND)
    run()
    make.submission(Phase.objects.get(slug="second"))
    bundle.sheet()
    said = run()
    assert said[0] == "nothing changed"
    assert "second" in said[1]
    assert Phase.objects.count() == 2


def test_phases_are_in_the_order_of_challenge_yaml(bundle: BundleFolder, run: Import) -> None:
    second(bundle)
    bundle.sheet(text="slug: animals\ntitle: Animals\nphases:\n" + SECOND, phase=SECOND.replace("second", "main"))
    run()
    assert [phase.slug for phase in Phase.objects.all()] == ["second", "main"]


def test_nothing_is_imported_if_one_phase_is_in_use(make: Make, bundle: BundleFolder, run: Import) -> None:
    run()
    make.submission(Phase.objects.get())
    second(bundle)
    bundle.sheet(challenge="summary: New.\n", phase="    parameters: {iou_threshold: 0.6}\n" + SECOND)
    kept = stored()
    assert codes_of(run) == [("phase_in_use", 5)]
    assert (Challenge.objects.get().summary, Phase.objects.count(), stored()) == ("", 1, kept)


def test_a_new_challenge_that_is_over_already_is_a_mistake(bundle: BundleFolder, run: Import) -> None:
    bundle.sheet(challenge="closes_at: 2020-01-01\n")
    assert codes_of(run) == [("bad_dates", 3)]
    assert not Challenge.objects.exists()


def test_a_phase_that_closed_before_a_challenge_that_opens_now_is_a_mistake(bundle: BundleFolder, run: Import) -> None:
    bundle.sheet(phase="    opens_at: 2020-01-01\n    closes_at: 2020-02-01\n")
    assert codes_of(run) == [("bad_dates", 7)]
    assert not Challenge.objects.exists()


def test_a_phase_that_has_closed_since_its_import_may_be_imported_again(bundle: BundleFolder, run: Import) -> None:
    run()
    Challenge.objects.update(opens_at=datetime(2020, 1, 1, tzinfo=UTC))
    Phase.objects.update(closes_at=datetime(2020, 2, 1, tzinfo=UTC))
    bundle.sheet(phase="    closes_at: 2020-02-01\n    quota: {per_day: 9}\n")
    assert run() == ["phase main: quota_per_day changed"]


def test_a_user_who_imports_twice_becomes_an_organizer_once(make: Make, run: Import) -> None:
    user = make.user()
    assert f"{user} is now an organizer of the challenge" in run(by=user)
    assert run(by=user) == ["nothing changed"]
    assert Challenge.objects.get().is_organized_by(user)


def test_an_import_is_recorded_in_the_log_without_the_name_of_the_new_organizer(make: Make, run: Import) -> None:
    user = make.user()
    said = run(by=user)
    entry = Entry.objects.get(action="challenge.imported")
    changes = [one for one in said if one != f"{user} is now an organizer of the challenge"]
    assert (entry.subject, entry.actor) == ("challenge animals", user.username)
    assert entry.detail == {"changes": changes, "organizer": user.pk}


def test_nothing_is_left_in_the_temporary_folder(bundle: BundleFolder, run: Import) -> None:
    run()
    bundle.sheet(challenge="closes_at: 2020-01-01\n")
    codes_of(run)
    assert list(Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir()) == []


def test_a_sample_in_the_bundle_is_used_and_not_removed(bundle: BundleFolder, run: Import) -> None:
    run()
    sample = bundle.write("phases/main/sample_submission.csv", "ImageId,PredictionString\nb,\n")
    old = stored()
    assert run() == ["phase main: sample_submission changed"]
    assert Path(Phase.objects.get().sample_submission.path).read_bytes() == sample.read_bytes()
    assert len(stored()) == len(old)


def test_the_source_of_a_truth_is_the_same_zip_every_time(bundle: BundleFolder, run: Import) -> None:
    bundle.write("phases/main/usage.csv", "ImageID,Usage\na,Public\nb,Private\n")
    run()
    source = Path(Truth.objects.get().source.path).read_bytes()
    bundle.sheet(phase="    parameters: {iou_threshold: 0.6}\n")
    run()
    assert Path(Truth.objects.get().source.path).read_bytes() == source
