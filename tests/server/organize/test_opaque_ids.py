"""`import_challenge --opaque-ids` replaces caption ids that reveal which image they belong to."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from evaluator.bundle import InvalidBundle
from server.challenges.models import Phase
from server.organize.services.importing import import_bundle
from server.organize.services.opaque_ids import write_opaque_ids
from tests.server.organize.conftest import BundleFolder

pytestmark = pytest.mark.django_db

SHEET = """\
slug: captions
title: Captions
phases:
  - slug: main
    track: flickr30k-retrieval
    baselines: [{name: Perfect, file: perfect.json}]
"""
IMAGES = [f"photo{n}" for n in range(6)]
CAPTIONS = [f"{image}#{n}" for image in IMAGES for n in range(2)]
PERFECT = {
    "image_to_sentence": {image: [f"{image}#0", f"{image}#1"] for image in IMAGES},
    "sentence_to_image": {caption: [caption[:-2]] for caption in CAPTIONS},
}


@pytest.fixture
def captions(tmp_path: Path) -> BundleFolder:
    bundle = BundleFolder(tmp_path / "captions")
    bundle.write("challenge.yaml", SHEET)
    for name in ("boxes.csv", "image_labels.csv"):
        (bundle.path / "phases/main/truth" / name).unlink()
    bundle.write("phases/main/truth/gallery.json", json.dumps({"images": IMAGES, "captions": CAPTIONS}))
    bundle.write("phases/main/perfect.json", json.dumps(PERFECT))
    return bundle


def gallery(bundle: BundleFolder) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((bundle.path / "phases/main/truth/gallery.json").read_text())
    return content


def test_a_new_phase_with_caption_ids_that_reveal_images_is_refused(captions: BundleFolder) -> None:
    with pytest.raises(InvalidBundle) as raised:
        import_bundle(path=captions.path, by=None)
    assert {problem.code for problem in raised.value.problems} == {"truth_reveals_answers"}
    assert not Phase.objects.exists()


def test_opaque_ids_are_written_with_their_mapping_and_baselines_are_converted(captions: BundleFolder) -> None:
    call_command("import_challenge", str(captions.path), "--opaque-ids", verbosity=0)
    with (captions.path / "phases/main/caption_ids.csv").open(newline="") as file:
        original = {row["CaptionID"]: row["Original"] for row in csv.DictReader(file)}
    assert sorted(original.values()) == CAPTIONS
    assert {each["caption_id"]: each["image_id"] for each in gallery(captions)["captions"]} == {
        new: old[:-2] for new, old in original.items()
    }
    perfect = json.loads((captions.path / "phases/main/perfect.json").read_text())
    assert {original[new]: images for new, images in perfect["sentence_to_image"].items()} == PERFECT[
        "sentence_to_image"
    ]
    kept = json.loads((captions.path / "phases/main/gallery.original.json").read_text())
    assert kept == {"images": IMAGES, "captions": CAPTIONS}


def test_a_second_call_changes_nothing(captions: BundleFolder) -> None:
    write_opaque_ids(captions.path)
    before = {path: path.read_bytes() for path in captions.path.rglob("*") if path.is_file()}
    write_opaque_ids(captions.path)
    assert {path: path.read_bytes() for path in captions.path.rglob("*") if path.is_file()} == before


def test_a_damaged_gallery_is_reported_and_not_changed(captions: BundleFolder) -> None:
    captions.write("phases/main/truth/gallery.json", '{"images": ["photo0"], "captions": [7]}')
    with pytest.raises(InvalidBundle):
        write_opaque_ids(captions.path)
    assert not (captions.path / "phases/main/caption_ids.csv").exists()


def test_a_zip_must_be_unpacked_first(captions: BundleFolder, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Unpack the zip"):
        call_command("import_challenge", str(captions.zipped(tmp_path / "captions.zip")), "--opaque-ids")


def test_participants_get_the_candidates_without_the_mapping(captions: BundleFolder, client: Client) -> None:
    call_command("import_challenge", str(captions.path), "--opaque-ids", verbosity=0)
    page = client.get("/challenges/captions/data").content.decode()
    assert "/challenges/captions/data/candidates" in page
    response = client.get("/challenges/captions/data/candidates")
    given = json.loads(b"".join(response.streaming_content))  # type: ignore[attr-defined]
    assert sorted(given["images"]) == IMAGES
    assert {each["caption_id"] for each in given["captions"]} == {
        each["caption_id"] for each in gallery(captions)["captions"]
    }
    assert "#" not in json.dumps(given)
    assert response["Content-Disposition"] == 'attachment; filename="captions-main-candidates.json"'


def test_an_existing_phase_keeps_its_caption_ids(captions: BundleFolder) -> None:
    """A bundle can be imported again into its phase even if a caption's id reveals the image of the caption."""
    write_opaque_ids(captions.path)
    import_bundle(path=captions.path, by=None)
    Phase.objects.update(salt="")
    captions.write("phases/main/truth/gallery.json", json.dumps({"images": IMAGES, "captions": CAPTIONS}))
    captions.write("phases/main/perfect.json", json.dumps(PERFECT))
    import_bundle(path=captions.path, by=None)
    assert Phase.objects.count() == 1
