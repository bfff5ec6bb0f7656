"""Reads phrases and their boxes from ``phrases.jsonl`` or from the published files of Flickr30k Entities."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any
from xml.etree import ElementTree

from evaluator.files.documents import parse_truth_json
from evaluator.files.folder import TruthFolder

MENTION = re.compile(r"\[/EN#(?P<chain>[^/\]\s]+)(?P<types>(?:/[^/\]\s]+)+) [^\]]*\]")
PHRASES = "phrases.jsonl"
KINDS = {"image_id": str, "sentence_id": int, "phrase_index": int, "types": list, "boxes": list}
CORNERS = ("xmin", "ymin", "xmax", "ymax")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase with at least one box. Phrases without a box are not evaluated.

    Attributes
    ----------
    image : str
    sentence : int
        Index of the sentence within its image.
    index : int
        Index of the phrase within its sentence. The index also counts phrases without a box.
    types : tuple of str
        Types of the object that the phrase names, such as ``people``.
    boxes : list of [x1, y1, x2, y2]
        Boxes in pixels; the first pixel has the coordinate 0.
    file, line
        The location of the phrase in the ground truth folder.
    """

    image: str
    sentence: int
    index: int
    types: tuple[str, ...]
    boxes: list[list[float]]
    file: str
    line: int


def phrases_of(folder: TruthFolder) -> list[Phrase]:
    """Return every phrase of a ground truth, sorted by image, sentence and index.

    Raises
    ------
    InvalidTruth
        If the ground truth folder has faults.
    """
    if PHRASES in folder and "split.txt" in folder:
        folder.faults.warn("truth_ignored", "split.txt", f"is ignored, because there is a {PHRASES}; keep one of them")
    found = list(_listed(folder) if PHRASES in folder else _published(folder))
    seen: set[tuple[str, int, int]] = set()
    for phrase in found:
        key = phrase.image, phrase.sentence, phrase.index
        if key in seen:
            folder.faults.add("truth_bad_value", phrase.file, "this phrase occurs twice", line=phrase.line)
        seen.add(key)
        if any(x1 > x2 or y1 > y2 for x1, y1, x2, y2 in phrase.boxes):
            folder.faults.add("truth_inverted_box", phrase.file, "a box has x1 > x2 or y1 > y2", line=phrase.line)
    folder.faults.check()
    _warn(folder, found)
    return sorted(found, key=lambda phrase: (phrase.image, phrase.sentence, phrase.index))


def _warn(folder: TruthFolder, phrases: list[Phrase]) -> None:
    """Warn about boxes with zero area or negative coordinates, and about boxes given as fractions instead of pixels."""
    for phrase in phrases:
        if any(x1 == x2 or y1 == y2 for x1, y1, x2, y2 in phrase.boxes):
            message = "a box has no area; no predicted box can match it"
            folder.faults.warn("truth_empty_box", phrase.file, message, line=phrase.line)
        if any(min(box) < 0 for box in phrase.boxes):
            message = "a box begins outside the image"
            folder.faults.warn("truth_outside_image", phrase.file, message, line=phrase.line)
    if phrases and all(max(box) <= 1 for phrase in phrases for box in phrase.boxes):
        message = "no coordinate is above 1; boxes must be in pixels, not in fractions of the image"
        folder.faults.warn("truth_fractions", phrases[0].file, message)


def _listed(folder: TruthFolder) -> Iterator[Phrase]:
    for line, text in enumerate(folder.text(PHRASES).split("\n"), 1):
        if not text.strip():
            continue
        try:
            value, repeated = parse_truth_json(text)
        except (ValueError, RecursionError) as error:
            folder.faults.add("truth_bad_value", PHRASES, f"not JSON: {error}", line=line)
            continue
        wrong = next(iter(repeated), None) or _wrong_key(value)
        if wrong:
            folder.faults.add("truth_bad_value", PHRASES, f"{wrong} is missing or invalid", line=line, column=wrong)
            continue
        boxes = [[float(corner) for corner in box] for box in value["boxes"]]
        key = value["image_id"], value["sentence_id"], value["phrase_index"]
        yield Phrase(*key, tuple(value["types"]), boxes, PHRASES, line)


def _wrong_key(value: Any) -> str | None:
    """Return the first JSON key of a phrase whose value is missing or invalid, or None if the phrase is valid."""
    if not isinstance(value, dict):
        return "the object of a phrase"
    for name, kind in KINDS.items():
        if type(value.get(name)) is not kind or (kind is int and not 0 <= value[name] < 2**31):
            return name
    if not all(isinstance(each, str) for each in value["types"]):
        return "types"
    return None if value["boxes"] and all(map(_is_box, value["boxes"])) else "boxes"


def _is_box(box: Any) -> bool:
    numbers = isinstance(box, list) and len(box) == 4 and {type(corner) for corner in box} <= {int, float}
    return numbers and all(isfinite(corner) and abs(corner) < 2**31 for corner in box)


def _published(folder: TruthFolder) -> Iterator[Phrase]:
    """Yield the phrases in the published files of Flickr30k Entities, for the images in ``split.txt``.

    Each phrase belongs to a coreference chain: all phrases for the same object of an image. Phrases whose chain has no
    box are left out.
    """
    for image in dict.fromkeys(folder.text("split.txt").split()):
        text, annotation = f"Sentences/{image}.txt", f"Annotations/{image}.xml"
        missing = [name for name in (text, annotation) if name not in folder]
        for name in missing:
            folder.faults.add("truth_missing_file", name, f"{name} is missing, but split.txt lists {image}")
        if missing:
            continue
        phrases = list(_of_image(folder, image, text, _boxes(folder, annotation)))
        if not phrases:
            folder.faults.warn("truth_no_phrases", text, "no phrase has a box, so this image is not evaluated")
        yield from phrases


def _of_image(folder: TruthFolder, image: str, text: str, boxes: dict[str, list[list[float]]]) -> Iterator[Phrase]:
    for sentence, line in enumerate(folder.text(text).splitlines()):
        for index, mention in enumerate(MENTION.finditer(line)):
            if of_chain := boxes.get(mention["chain"]):
                types = tuple(mention["types"][1:].split("/"))
                yield Phrase(image, sentence, index, types, of_chain, text, sentence + 1)


def _boxes(folder: TruthFolder, file: str) -> dict[str, list[list[float]]]:
    """Return the boxes of each coreference chain (the phrases for the same object) in an image.

    Pixels are counted from 0. In the published files of Flickr30k Entities, they are counted from 1.
    """
    boxes: dict[str, list[list[float]]] = {}
    try:
        for element in ElementTree.fromstring(folder.text(file)).iter("object"):
            outline = element.find("bndbox")
            if outline is not None:
                box = [float(outline.findtext(corner, "")) - 1 for corner in CORNERS]
                if not _is_box(box):
                    raise ValueError(f"{box} is not a box")
                for name in element.findall("name"):
                    boxes.setdefault((name.text or "").strip(), []).append(box)
    except (ElementTree.ParseError, ValueError) as error:
        line = error.position[0] if isinstance(error, ElementTree.ParseError) else None
        folder.faults.add("truth_bad_value", file, f"not an annotation: {error}", line=line, column="bndbox")
    return boxes
