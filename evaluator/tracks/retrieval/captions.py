"""Caption ids of a retrieval contest: whether they reveal their images, and an order that reveals nothing."""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise

LEAST_CAPTIONS = 5  # fewer come in the order of their images by chance too often to refuse it
LEAST_GROUPED = 20  # the same for captions of one image that follow each other
SHORT_ID = 5  # characters; a shorter image id can occur in a random caption id by chance


def naming(captions: Mapping[str, str]) -> list[str]:
    """Return the captions whose id contains the id of their image, with or without its file ending.

    Parameters
    ----------
    captions : mapping of str to str
        Image id by caption id.

    Examples
    --------
    >>> naming({"1007129816#0": "1007129816.jpg", "c4d1a90be27f": "1007129816.jpg"})
    ['1007129816#0']
    """
    return [caption for caption, image in captions.items() if _contains(caption, image)]


def _contains(caption: str, image: str) -> bool:
    caption = caption.casefold()
    for name in {image.casefold(), image.casefold().rpartition(".")[0]} - {""}:
        if len(name) >= SHORT_ID and name in caption:
            return True
        if re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", caption):
            return True
    return False


def ordered(captions: Mapping[str, str], images: Sequence[str]) -> str:
    """Return which order of the captions reveals their images: in the file, by id, or none (an empty text).

    An order reveals images where it follows the order of the images, or where captions of one image are neighbours more
    often than halfway between never and always.

    Examples
    --------
    >>> ordered({"b": "x", "e": "x", "a": "y", "d": "y", "c": "z"}, ["x", "y", "z"])
    'in the file'
    >>> ordered({"b": "x", "a": "y", "e": "x", "d": "y", "c": "z"}, ["x", "y", "z"])
    ''
    """
    orders = {"in the file": list(captions), "by id": sorted(captions, key=_natural)}
    ranked = [{image: place for place, image in enumerate(order)} for order in (images, sorted(images, key=_natural))]
    for name, order in orders.items():
        of_images = [captions[caption] for caption in order]
        if _grouped(of_images) or any(_monotone([ranks.get(image, -1) for image in of_images]) for ranks in ranked):
            return name
    return ""


def _natural(text: str) -> list[tuple[int, str]]:
    """Sort key by which c2 comes before c10."""
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]


def _monotone(places: Sequence[int]) -> bool:
    pairs = list(pairwise(places))
    rises, falls = (all(sign * (b - a) >= 0 for a, b in pairs) for sign in (1, -1))
    return len(places) >= LEAST_CAPTIONS and len(set(places)) > 1 and (rises or falls)


def _grouped(images: Sequence[str]) -> bool:
    possible = len(images) - len(set(images))
    neighbours = sum(a == b for a, b in pairwise(images))
    return len(images) >= LEAST_GROUPED and len(set(images)) > 1 and 2 * neighbours > possible > 0


def shuffled(ids: Iterable[str]) -> list[str]:
    """Return ids in an order that depends on the ids alone and follows no other order: by their sha256.

    >>> shuffled(["a", "b", "c", "d", "e", "f"])
    ['d', 'f', 'c', 'b', 'e', 'a']
    """
    return sorted(ids, key=lambda each: sha256(each.encode()).digest())
