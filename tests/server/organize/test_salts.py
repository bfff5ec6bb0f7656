"""The first import of a phase creates its secret salt, which selects the public images and is never shown."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from evaluator.bundle import InvalidBundle
from evaluator.catalog import TRACKS
from evaluator.cli import main
from evaluator.files.folder import TruthFolder
from evaluator.problems import Problem
from evaluator.synthesis import synthesize
from server.challenges.models import Phase, Truth
from server.organize.services import truths
from server.organize.services.importing import import_bundle
from server.submissions.models import Score
from tests.conftest import InlineQueue, Make
from tests.server.documented import Api
from tests.server.organize.conftest import BOXES, BundleFolder

pytestmark = pytest.mark.usefixtures("make")

SALT, OTHER = "0123456789abcdef0123456789abcdef\n", "f" * 32 + "\n"
OWN = "phases/main/truth/salt.txt"
SPLIT = "    split: {public: 0.5}\n"


def sentences(bundle: BundleFolder) -> list[str]:
    """Import the bundle. Return all messages of the import, followed by the warnings about salts and seeds.

    A salt or a seed determines which images of a phase are public.
    """
    said: list[str] = []
    warned: list[Problem] = []
    import_bundle(path=bundle.path, by=None, report=said.append, warn=warned.append)
    return said + [problem.message for problem in warned if "salt" in problem.message or "seed" in problem.message]


def refusal(act: Callable[[], object]) -> tuple[str, str | None, str]:
    with pytest.raises(InvalidBundle) as caught:
        act()
    (problem,) = caught.value.problems
    return problem.code, problem.file, problem.message


@pytest.fixture
def unsalted(bundle: BundleFolder) -> Phase:
    """Create a phase like those of earlier versions of Podium: a seed, not a secret salt, selects its public images."""
    import_bundle(path=bundle.path, by=None)
    Truth.objects.all().delete()
    Phase.objects.update(salt="")
    bundle.sheet(phase="    split: {public: 0.5, seed: 1}\n")
    import_bundle(path=bundle.path, by=None)
    return Phase.objects.get()


def test_a_new_phase_gets_a_random_salt_of_its_own(bundle: BundleFolder) -> None:
    for name in ("boxes.csv", "image_labels.csv"):
        bundle.write(f"phases/second/truth/{name}", (bundle.path / "phases/main/truth" / name).read_bytes())
    bundle.sheet(phase="  - slug: second\n    track: openimages-detection\n")
    import_bundle(path=bundle.path, by=None)
    salts = set(Phase.objects.values_list("salt", flat=True))
    assert len(salts) == 2
    assert all(len(bytes.fromhex(salt)) == 16 and salt.endswith("\n") for salt in salts)
    # The ground truths of the two phases differ only in their salts, on which the hashes depend.
    assert Truth.objects.values("sha256").distinct().count() == 2


def test_importing_a_bundle_again_uses_the_stored_salt(bundle: BundleFolder) -> None:
    import_bundle(path=bundle.path, by=None)
    assert sentences(bundle) == ["nothing changed"]


def test_the_stored_source_contains_the_salt(bundle: BundleFolder) -> None:
    import_bundle(path=bundle.path, by=None)
    phase = Phase.objects.get()
    with ZipFile(Truth.objects.get().source.path) as source:
        assert source.read("salt.txt").decode() == phase.salt


@pytest.mark.parametrize(
    ("name", "content"),
    [(OWN, SALT), (f"{OWN}.gz", gzip.compress(SALT.encode(), mtime=0)), (OWN, gzip.compress(SALT.encode(), mtime=0))],
)
def test_a_bundle_may_contain_its_own_salt(bundle: BundleFolder, name: str, content: str | bytes) -> None:
    bundle.write(name, content)
    import_bundle(path=bundle.path, by=None)
    assert Phase.objects.get().salt == SALT
    assert (
        Truth.objects.get().sha256
        == TruthFolder(bundle.path / "phases/main/truth", TRACKS["openimages-detection"]).sha256
    )
    assert sentences(bundle) == ["nothing changed"]
    for path in (bundle.path / "phases/main/truth").glob("salt*"):
        path.unlink()
    assert sentences(bundle) == ["nothing changed"]


def test_an_invalid_salt_is_reported_with_its_location(bundle: BundleFolder) -> None:
    bundle.write(OWN, "salt\n")
    code, file, message = refusal(lambda: import_bundle(path=bundle.path, by=None))
    assert (code, file) == ("truth_bad_value", OWN)
    assert "32 hexadecimal digits" in message


def test_a_salt_that_differs_from_the_stored_one_is_refused(bundle: BundleFolder) -> None:
    import_bundle(path=bundle.path, by=None)
    bundle.write(OWN, OTHER)
    before = Phase.objects.get().salt
    code, file, message = refusal(lambda: import_bundle(path=bundle.path, by=None))
    assert (code, file) == ("truth_bad_value", OWN)
    assert "never changes" in message
    assert before.strip() not in message
    assert Phase.objects.get().salt == before


def test_every_version_of_a_truth_has_the_salt_of_its_phase(bundle: BundleFolder) -> None:
    import_bundle(path=bundle.path, by=None)
    phase, folder = Phase.objects.get(), bundle.path / "phases/main/truth"
    assert truths.add(phase=phase, path=folder, by=None).version == 1
    bundle.write("phases/main/truth/boxes.csv", BOXES.replace("0.6", "0.7"))
    truth = truths.add(phase=phase, path=folder, by=None)
    assert truth.version == 2
    with ZipFile(truth.source.path) as source:
        assert source.read("salt.txt").decode() == phase.salt
    (folder / "salt.txt").write_text(phase.salt)
    assert truths.add(phase=phase, path=folder, by=None) == truth
    (folder / "salt.txt").write_text(OTHER)
    assert refusal(lambda: truths.add(phase=phase, path=folder, by=None))[:2] == ("truth_bad_value", OWN)


def test_the_api_refuses_a_truth_of_another_salt(bundle: BundleFolder, make: Make, api: Api) -> None:
    import_bundle(path=bundle.path, by=(olga := make.user()))
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        for path in sorted((bundle.path / "phases/main/truth").iterdir()):
            archive.write(path, path.name)
        archive.writestr("salt.txt", OTHER)
    answer = api.upload(
        "challenges/animals/phases/main/truths", file=packed.getvalue(), name="truth.zip", user=olga, scope="organize"
    )
    assert answer.status_code == 422
    assert answer.json()["faults"][0]["file"] == OWN


def test_a_phase_without_salt_does_not_change_and_causes_a_warning(bundle: BundleFolder, unsalted: Phase) -> None:
    truth = unsalted.truths.get()
    assert unsalted.salt == ""
    said = sentences(bundle)
    assert said[0] == "nothing changed"
    assert [sentence[:18] for sentence in said if "salt" in sentence or "seed" in sentence] == [
        "phase main has no ",
        "split.seed decides",
    ]
    assert unsalted.truths.get() == truth
    assert truths.add(phase=unsalted, path=bundle.path / "phases/main/truth", by=None) == truth
    bundle.write(OWN, SALT)
    assert "was imported without a salt" in refusal(lambda: import_bundle(path=bundle.path, by=None))[2]
    with ZipFile(truth.source.path) as source:
        assert "salt.txt" not in source.namelist()


def test_a_seed_next_to_a_salt_is_ignored_with_a_warning(bundle: BundleFolder, make: Make) -> None:
    bundle.write(OWN, SALT)
    bundle.sheet(phase="    split: {public: 0.5, seed: 7}\n")
    assert any("split.seed is ignored" in sentence for sentence in sentences(bundle))
    phase = Phase.objects.get()
    # After a team has submitted, an import must not change anything that affects scores.
    make.submission(phase)
    signature = phase.signature
    bundle.sheet(phase=SPLIT)
    assert not any("split.seed" in sentence for sentence in sentences(bundle))
    assert Phase.objects.get().signature == signature


def test_the_published_sha256_cannot_confirm_a_guessed_truth(bundle: BundleFolder, api: Api) -> None:
    import_bundle(path=bundle.path, by=None)
    (told,) = api.get("/api/v1/challenges/animals").json()["phases"]
    guess = TruthFolder(bundle.path / "phases/main/truth", TRACKS["openimages-detection"])
    assert told["truth"]["sha256"] != guess.sha256


def test_nobody_sees_the_salt(
    bundle: BundleFolder, make: Make, client: Client, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    olga = make.user(is_staff=True, is_superuser=True)
    call_command("import_challenge", bundle.path, organizer=olga.username)
    phase = Phase.objects.get()
    client.force_login(olga)
    words = [
        client.get(reverse("admin:challenges_phase_change", args=[phase.pk])).content.decode(),
        client.get(reverse("admin:challenges_truth_change", args=[phase.truths.get().pk])).content.decode(),
        client.get(reverse("admin:audit_entry_changelist")).content.decode(),
        *(client.get(f"/challenges/animals{place}").content.decode() for place in ("", "/data", "/leaderboard")),
        json.dumps(api.get("/api/v1/challenges/animals", user=olga).json()),
        *capsys.readouterr(),
        repr(phase),
    ]
    assert phase.salt
    assert not any(phase.salt.strip() in text for text in words)


def test_the_folder_with_its_salt_gives_the_stored_scores_and_intervals(
    bundle: BundleFolder,
    make: Make,
    inline_queue: InlineQueue,
    tmp_path: Path,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the unpacked source of the ground truth, `podium score` computes exactly the stored scores and intervals."""
    settings.INTERVAL_REPLICATES = 1_000
    synthesize("openimages-detection", tmp_path / "made", images=40, qualities=(0.6,))
    for path in (tmp_path / "made" / "truth").iterdir():
        bundle.write(f"phases/main/truth/{path.name}", path.read_bytes())
    bundle.sheet(phase=SPLIT)
    import_bundle(path=bundle.path, by=None)
    phase = Phase.objects.get()
    file = tmp_path / "made" / "submissions" / "quality-0.60.csv"
    make.submission(phase, content=file.read_bytes())
    inline_queue.work()
    inline_queue.work_later()
    with ZipFile(phase.truths.get().source.path) as source:
        source.extractall(tmp_path / "unpacked")
    words = ["score", phase.track, "--truth", str(tmp_path / "unpacked"), "--submission", str(file), "--json"]
    capsys.readouterr()
    assert main([*words, "--split", "0.5", "--bootstrap", "1000"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["signature"] == phase.signature
    assert set(answer["splits"]) == {"all", "public", "private"}
    expected = {
        (name, metric): (value, *split["intervals"].get(metric, (None, None)))
        for name, split in answer["splits"].items()
        for metric, value in split["metrics"].items()
    }
    stored = Score.objects.filter(evaluation__submission__phase=phase)
    assert {(one.split, one.metric): (one.value, one.low, one.high) for one in stored} == expected
    assert all(low is not None for _, low, _ in expected.values())
