"""Exporting a challenge, importing the bundle into an empty server, and exporting it again produces identical files."""

import stat
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.core.management import CommandError, call_command

from evaluator.catalog import TRACKS
from evaluator.synthesis import synthesize
from server.audit.models import Entry
from server.challenges.gate import may_open
from server.challenges.models import Challenge, Phase
from server.clock import database_now
from server.organize.services import bundles, rescoring, truths
from server.organize.services.importing import import_bundle
from tests.conftest import Make
from tests.server.organize.conftest import BundleFolder

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_process", "inline_queue", "own_folders")]
FULL = """\
slug: animals
title: "2026"
summary: "Yes: a 'summary' #1"
visibility: unlisted
opens_at: 2026-01-01T00:00:00.25+02:00
closes_at: 2099-06-01
join_until: 2099-05-25T00:00:00Z
registration: approval
allow: [example.org, uni.example.edu]
allow_people: [ada@example.org, bob]
contact: organizers@example.org
teams: {max_size: 3, merge_until: 2099-05-01T00:00:00Z}
phases:
  - slug: main
    track: openimages-detection
    parameters: {group_of_weight: 0.3, expand_hierarchy: false}
    split: {public: 0.5, seed: 7}
    quota: {per_day: 7, total: 200, attempts_per_day: 9}
    finals: 1
    feedback: {scores: rounded, decimals: 3, classes: true}
    freeze_at: 2099-04-01T00:00:00Z
    closes_at: 2099-05-01T00:00:00Z
    baselines: [{name: Zero, file: baselines/b.csv}, {name: "1", file: more/b.csv}]
"""


def exported(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    call_command("export_challenge", Challenge.objects.get().slug, str(path))
    return path


def assert_equal_after_a_round_trip(path: Path, tmp_path: Path) -> None:
    import_bundle(path=path, by=None)
    first = exported(tmp_path, "first.zip")
    Challenge.objects.all().delete()
    import_bundle(path=first, by=None)
    assert exported(tmp_path, "second.zip").read_bytes() == first.read_bytes()


def test_a_challenge_with_every_key_is_equal_after_a_round_trip(bundle: BundleFolder, tmp_path: Path) -> None:
    for page in ("description", "rules", "data"):
        bundle.write(f"{page}.md", f"# {page}: äöü\r\n")
    bundle.write("phases/main/baselines/b.csv", "ImageId,PredictionString\na,\n")
    bundle.write("phases/main/more/b.csv", "ImageId,PredictionString\nb,\n")
    bundle.write("phases/main/truth/salt.txt", f"{'5' * 32}\n")
    bundle.sheet(text=FULL)
    assert_equal_after_a_round_trip(bundle.path, tmp_path)
    with ZipFile(tmp_path / "second.zip") as archive:
        names = archive.namelist()
        sheet = archive.read("challenge.yaml").decode()
    assert {"phases/main/truth/salt.txt", "phases/main/baselines/b.csv", "phases/main/baselines/2-b.csv"} <= set(names)
    assert "keep the file secret" in sheet
    assert "title: '2026'" in sheet


def test_a_split_by_usage_is_equal_after_a_round_trip(bundle: BundleFolder, tmp_path: Path) -> None:
    bundle.write("phases/main/usage.csv", "ImageID,Usage\na,Public\nb,Private\n")
    assert_equal_after_a_round_trip(bundle.path, tmp_path)


def test_a_baseline_with_any_file_name_is_exported_under_a_name_that_an_import_accepts(
    bundle: BundleFolder, tmp_path: Path, make: Make
) -> None:
    import_bundle(path=bundle.path, by=None)
    phase = Phase.objects.get()
    odd = ["center  prior.csv", "final: v2.csv", r"a\b.csv", "center.csv ", f"{'ü' * 150}.csv", "...", "3-x.csv"]
    contents = {}
    for number, name in enumerate([*odd, "x.csv", "x.csv", "x.csv"]):
        team = make.team(phase.challenge, name=f"Baseline {number}", is_baseline=True)
        contents[team.name] = f"ImageId,PredictionString\n{number},\n".encode()
        make.submission(phase, team, file_name=name, content=contents[team.name])
    with bundles.opened(exported(tmp_path, "first.zip")) as folder:
        found = {one.name: one.file.read_bytes() for one in bundles.read(folder).phases[0].baselines}
    assert found == contents


@pytest.mark.parametrize("track", TRACKS)
def test_a_challenge_of_any_track_is_equal_after_a_round_trip(track: str, tmp_path: Path) -> None:
    folder = tmp_path / "bundle"
    synthesize(track, folder / "phases/main", images=12, seed=3, qualities=[0.5])
    (folder / "challenge.yaml").write_text(f"slug: a\ntitle: A\nphases:\n  - slug: main\n    track: {track}\n")
    assert_equal_after_a_round_trip(folder, tmp_path)


def test_a_second_import_of_an_export_changes_nothing(
    bundle: BundleFolder, tmp_path: Path, run: Callable[..., list[str]]
) -> None:
    bundle.sheet(phase="    split: {public: 0.5}\n")
    # The salt is fixed, because a random salt could leave the public or the private split empty.
    bundle.write("phases/main/truth/salt.txt", "0123456789abcdef0123456789abcdef\n")
    run()
    said: list[str] = []
    import_bundle(path=exported(tmp_path, "first.zip"), by=None, report=said.append)
    assert said == ["nothing changed"]


def test_an_export_whose_truth_got_a_usage_csv_later_can_be_imported_again(
    bundle: BundleFolder, tmp_path: Path, make: Make, run: Callable[..., list[str]]
) -> None:
    bundle.sheet(phase="    split: {public: 0.5, seed: 3}\n")
    bundle.write("phases/main/truth/salt.txt", "0123456789abcdef0123456789abcdef\n")
    run()
    phase = Phase.objects.get()
    make.submission(phase, status="cancelled", finished_at=database_now())
    bundle.write("phases/main/truth/usage.csv", "ImageID,Usage\na,Private\nb,Public\n")
    truth = truths.add(phase=phase, path=bundle.path / "phases/main/truth", by=None, reveal=True)
    begun = rescoring.start(phase=phase, by=None, truth=truth, reveal=True)
    rescoring.apply(rescoring=begun, by=None, reveal=True)
    said: list[str] = []
    import_bundle(path=exported(tmp_path, "first.zip"), by=None, report=said.append)
    assert said == ["nothing changed"]
    phase = Phase.objects.get()
    assert may_open(phase)
    # The first version of the ground truth depends on these settings.
    assert (phase.public_share, phase.split_seed) == (0.5, 3)


def test_only_the_owner_can_read_an_export_and_it_is_logged(bundle: BundleFolder, tmp_path: Path) -> None:
    import_bundle(path=bundle.path, by=None)
    assert stat.S_IMODE(exported(tmp_path, "a.zip").stat().st_mode) == 0o600
    assert Entry.objects.filter(action="challenge.exported", subject="challenge animals").count() == 1


@pytest.mark.parametrize("reason", ["exists", "unknown", "truth"])
def test_an_export_that_is_not_possible_is_refused(phase: Phase, tmp_path: Path, reason: str) -> None:
    out, slug = tmp_path / "a.zip", "unknown" if reason == "unknown" else phase.challenge.slug
    if reason == "exists":
        out.write_text("kept")
    if reason == "truth":
        phase.truths.all().delete()
    with pytest.raises(CommandError):
        call_command("export_challenge", slug, str(out))
    assert (out.read_text() if out.exists() else "") == ("kept" if reason == "exists" else "")
