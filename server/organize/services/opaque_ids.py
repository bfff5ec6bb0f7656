"""Replaces the caption ids in a retrieval challenge, because the original ids may reveal each caption's image."""

import csv
import gzip
import io
import json
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings

from evaluator.bundle import BundlePhase, Mistakes
from evaluator.bundle.checking import check_files
from evaluator.texts import counted
from server.organize import podium
from server.organize.services import bundles
from server.organize.services.preparing import prepare

GALLERY, ORIGINAL, MAPPING = "gallery.json", "gallery.original.json", "caption_ids.csv"
HEADER = ("CaptionID", "Original")


def write_opaque_ids(folder: Path) -> list[str]:
    """Give new ids to the captions in every retrieval phase of an unpacked bundle. Return one message for each phase.

    The original gallery (the list of images and captions) is kept as `gallery.original.json` next to the folder with
    the ground truth, and a table of the old and new ids as `caption_ids.csv`. Both files must be kept secret. A second
    call does not replace the new ids. If the bundle is invalid, raises InvalidBundle and writes nothing.
    """
    with (
        # `bundles.opened` rejects symbolic links, so that no file outside the bundle can be overwritten.
        bundles.opened(folder) as copy,
        TemporaryDirectory(prefix="ids-", dir=settings.FILE_UPLOAD_TEMP_DIR) as workspace,
    ):
        phases = retrieval_phases(copy)
        mistakes = Mistakes()
        check_files(phases, lambda phase: prepare(phase, Path(workspace)), podium.answer, mistakes)
        mistakes.stop_if_any()
    return [write(phase) for phase in retrieval_phases(folder)]


def retrieval_phases(folder: Path) -> tuple[BundlePhase, ...]:
    return tuple(phase for phase in bundles.read(folder).phases if phase.declared_track.gives_candidates)


def write(phase: BundlePhase) -> str:
    content = read_gallery(phase.truth)
    gallery = json.loads(content)
    known = read_mapping(phase.folder / MAPPING)
    captions = [as_object(entry) for entry in gallery["captions"]]
    new_ids = extended(known, [each["caption_id"] for each in captions], images=gallery["images"])
    if new_ids == known:
        return f"phase {phase.slug}: the captions already have new ids"
    for caption in captions:
        caption["caption_id"] = new_ids.get(caption["caption_id"], caption["caption_id"])
    # Sorting by the new ids hides the original order, which could reveal the image of each caption.
    captions.sort(key=lambda caption: caption["caption_id"])
    renamed = json.dumps({**gallery, "captions": captions}, indent=0, ensure_ascii=False)
    write_whole(
        {
            phase.folder / ORIGINAL: content,
            phase.folder / MAPPING: mapping_text(new_ids).encode(),
            **renamed_submissions(phase, new_ids),
            phase.truth / GALLERY: renamed.encode(),
        }
    )
    (phase.truth / f"{GALLERY}.gz").unlink(missing_ok=True)
    return (
        f"phase {phase.slug}: new ids for {counted(len(captions), 'caption')}. Keep {MAPPING} secret: it maps "
        "original ids to new ids"
    )


def read_gallery(truth: Path) -> bytes:
    plain = truth / GALLERY
    return plain.read_bytes() if plain.is_file() else gzip.decompress(plain.with_name(f"{GALLERY}.gz").read_bytes())


def as_object(entry: Any) -> dict[str, Any]:
    """Return a caption as a JSON object.

    The gallery may contain it as a string `image#n` that begins with the image id.
    """
    if isinstance(entry, str):
        return {"caption_id": entry, "image_id": entry.rpartition("#")[0]}
    return {"image_id": entry["caption_id"].rpartition("#")[0], **entry}


def extended(known: Mapping[str, str], captions: Iterable[str], *, images: Iterable[str]) -> dict[str, str]:
    """Return a dict from original to new caption ids. Captions that already have a new id keep it."""
    new_ids, taken, names = dict(known), set(known.values()), {image.casefold() for image in images}
    for caption in captions:
        if caption in taken or caption in new_ids:
            continue
        drawn = secrets.token_hex(6)
        while drawn in taken or any(name in drawn for name in names if len(name) > 4):
            drawn = secrets.token_hex(6)
        new_ids[caption] = drawn
        taken.add(drawn)
    return new_ids


def renamed_submissions(phase: BundlePhase, new_ids: Mapping[str, str]) -> dict[Path, bytes]:
    """Return the files of a phase's sample submission and baselines with the new caption ids, keyed by path."""
    renamed = {}
    files = {*(baseline.file for baseline in phase.baselines), *filter(None, [phase.sample])}
    for file in files:
        raw = file.read_bytes()
        content = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        content["image_to_sentence"] = {
            image: [new_ids.get(caption, caption) for caption in ranked]
            for image, ranked in content["image_to_sentence"].items()
        }
        content["sentence_to_image"] = {
            new_ids.get(caption, caption): ranked for caption, ranked in content["sentence_to_image"].items()
        }
        renamed[file] = json.dumps(content).encode()
    return renamed


def read_mapping(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    with path.open(newline="") as file:
        return {row["Original"]: row["CaptionID"] for row in csv.DictReader(file)}


def mapping_text(new_ids: Mapping[str, str]) -> str:
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(HEADER)
    rows.writerows(sorted((new, original) for original, new in new_ids.items()))
    return text.getvalue()


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Write all of the given files to the bundle's folder, or none of them if the disk is full."""
    partials = {path: path.with_name(f".{path.name}.{secrets.token_hex(8)}") for path in contents}
    try:
        for path, partial in partials.items():
            partial.write_bytes(contents[path])
        for path, partial in partials.items():
            partial.replace(path)
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)
