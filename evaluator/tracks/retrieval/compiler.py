"""Compiles a ground truth folder of the retrieval track."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.documents import TOP
from evaluator.files.folder import TruthFolder
from evaluator.texts import counted
from evaluator.tracks.checking import Position, checked, listed_images, usage_of
from evaluator.tracks.retrieval.captions import captions_with_image_id, revealing_order
from evaluator.tracks.retrieval.truth import DEPTHS, RetrievalTruth
from evaluator.tracks.shared.parameters import TrackParameters

GALLERY = "gallery.json"


def compile_truth(folder: TruthFolder, parameters: TrackParameters) -> RetrievalTruth:
    """Check a ground truth folder and compile it.

    Raises
    ------
    InvalidTruth
        If the ground truth folder has faults.
    """
    named, captions, sentences = _gallery(folder)
    positions = {image: Position(GALLERY, column=f"{TOP}.images[{index}]") for index, image in enumerate(named)}
    images = {image: code for code, image in enumerate(listed_images(folder, positions))}
    for image in sorted(set(named) - set(captions.values())):
        folder.faults.add("truth_bad_value", GALLERY, f"{image[:60]} has no caption", column=positions[image].column)
    for index, image in enumerate(captions.values()):
        if image not in positions:
            message = f"{image[:60]} is the image of a caption, but is not in the list of images"
            folder.faults.add("truth_bad_value", GALLERY, message, column=f"{TOP}.captions[{index}]")
    if folder.hidden:
        _check_secrecy(folder, named, captions)
    usage = usage_of(folder, images)
    folder.faults.check()
    if len(images) <= max(DEPTHS):
        found = counted(len(images), "image")
        message = (
            f"has {found}; with {max(DEPTHS)} images or fewer, every submission can reach a recall@{max(DEPTHS)} of 1"
        )
        folder.faults.warn("truth_small_gallery", GALLERY, message)
    # Captions are sorted by id, because their order in the file could reveal which images they belong to.
    ids = sorted(captions)
    texts = {"images": list(images), "captions": ids, "sentences": [sentences[caption] for caption in ids]}
    arrays: dict[str, NDArray[Any]] = {
        "caption_images": np.array([images[captions[caption]] for caption in ids], np.int64),
        "usage": usage,
    }
    return checked(folder.faults, RetrievalTruth(folder.track.name, folder.sha256, {}, {}, texts, arrays))


def _check_secrecy(folder: TruthFolder, images: list[str], captions: dict[str, str]) -> None:
    """Record a fault if the ids or the order of captions reveal which images the captions belong to."""
    remedy = "give the captions random ids (manage.py import_challenge --opaque-ids does this)"
    for caption in captions_with_image_id(captions):
        message = f"caption id {caption[:60]!r} contains the id of its image; {remedy}"
        folder.faults.add("truth_reveals_answers", GALLERY, message)
    if not folder.faults.found.total and (order := revealing_order(captions, images)):
        message = f"the order of the captions {order} shows which of them belong to the same image; {remedy}"
        folder.faults.add("truth_reveals_answers", GALLERY, message)


def _gallery(folder: TruthFolder) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Return the images, the image of each caption, and the sentence of each caption, which may be an empty string."""
    gallery, faults = folder.json(GALLERY), folder.faults
    if not isinstance(gallery, dict):
        gallery = {}
    images, entries = gallery.get("images"), gallery.get("captions")
    if not isinstance(images, list) or not isinstance(entries, list):
        faults.add("truth_bad_value", GALLERY, "must be an object with two lists, images and captions", column=TOP)
        raise faults.error
    seen: set[str] = set()
    for index, image in enumerate(images):
        if not isinstance(image, str) or image in seen:
            message = "this image id is not a string, or is listed twice"
            faults.add("truth_bad_value", GALLERY, message, column=f"{TOP}.images[{index}]")
        else:
            seen.add(image)
    faults.check()
    captions: dict[str, str] = {}
    sentences: dict[str, str] = {}
    for index, entry in enumerate(entries):
        caption, image = _caption(entry)
        path = f"{TOP}.captions[{index}]"
        if not (caption and image) or caption in captions:
            message = f"{path} has no id such as image#0, or repeats an id"
            faults.add("truth_bad_value", GALLERY, message, column=path)
        captions[caption] = image
        text = entry.get("text", "") if isinstance(entry, dict) else ""
        if not isinstance(text, str):
            faults.warn("truth_bad_text", GALLERY, "is not a string, so it is ignored", column=f"{path}.text")
        sentences[caption] = text if isinstance(text, str) else ""
    faults.check()
    return images, captions, sentences


def _caption(entry: Any) -> tuple[str, str]:
    """Return the id and the image of a caption. Empty strings stand for missing or invalid values."""
    caption = entry.get("caption_id") if isinstance(entry, dict) else entry
    image = entry.get("image_id") if isinstance(entry, dict) else None
    if not isinstance(caption, str):
        return "", ""
    return caption, image if isinstance(image, str) else caption.rpartition("#")[0]
