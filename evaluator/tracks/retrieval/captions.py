"""Checks whether the ids or the order of captions reveal their images, and shuffles ids.

The image that a caption belongs to is the secret answer of a challenge.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise

# Smallest number of captions whose order is compared with the order of their images. Fewer captions would too often
# have the same order by chance.
MIN_ORDERED = 5
# Smallest number of captions for the check whether captions of the same image are adjacent. Fewer captions would too
# often be adjacent by chance.
MIN_GROUPED = 20
# An image id with fewer characters than this can be part of a caption id by chance. Such an image id
# counts as part of the caption id only if it is a separate word there.
MIN_ID_CHARACTERS = 5


def captions_with_image_id(captions: Mapping[str, str]) -> list[str]:
    """Return the captions whose id contains the id of the image, with or without a file name extension.

    Parameters
    ----------
    captions : mapping of str to str
        The image id of each caption, by caption id.

    Examples
    --------
    >>> captions_with_image_id({"1007129816#0": "1007129816.jpg", "c4d1a90be27f": "1007129816.jpg"})
    ['1007129816#0']
    """
    return [caption for caption, image in captions.items() if _contains(caption, image)]


def _contains(caption: str, image: str) -> bool:
    caption = caption.casefold()
    for name in {image.casefold(), image.casefold().rpartition(".")[0]} - {""}:
        if len(name) >= MIN_ID_CHARACTERS and name in caption:
            return True
        if re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", caption):
            return True
    return False


def revealing_order(captions: Mapping[str, str], images: Sequence[str]) -> str:
    """Return the order of captions that reveals the images they belong to: "in the file", "by id", or "" if neither.

    An order of captions reveals their images if it follows the order of the images, forwards or backwards. It also
    reveals them if it has more than half as many adjacent pairs with the same image as an order grouped by image.

    Examples
    --------
    >>> revealing_order({"b": "x", "e": "x", "a": "y", "d": "y", "c": "z"}, ["x", "y", "z"])
    'in the file'
    >>> revealing_order({"b": "x", "a": "y", "e": "x", "d": "y", "c": "z"}, ["x", "y", "z"])
    ''
    """
    orders = {"in the file": list(captions), "by id": sorted(captions, key=_natural_key)}
    positions = [
        {image: index for index, image in enumerate(order)} for order in (images, sorted(images, key=_natural_key))
    ]
    for name, order in orders.items():
        of_images = [captions[caption] for caption in order]
        if _is_grouped(of_images) or any(
            _is_monotone([position.get(image, -1) for image in of_images]) for position in positions
        ):
            return name
    return ""


def _natural_key(text: str) -> list[tuple[int, str]]:
    """Return a sort key that compares the numbers in ids by value, so that c2 precedes c10."""
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text)]


def _is_monotone(positions: Sequence[int]) -> bool:
    pairs = list(pairwise(positions))
    rises, falls = (all(sign * (b - a) >= 0 for a, b in pairs) for sign in (1, -1))
    return len(positions) >= MIN_ORDERED and len(set(positions)) > 1 and (rises or falls)


def _is_grouped(images: Sequence[str]) -> bool:
    possible = len(images) - len(set(images))
    neighbours = sum(a == b for a, b in pairwise(images))
    return len(images) >= MIN_GROUPED and len(set(images)) > 1 and 2 * neighbours > possible > 0


def shuffled(ids: Iterable[str]) -> list[str]:
    """Return ids in a shuffled order that depends only on the ids: the order of their SHA-256 hashes.

    >>> shuffled(["a", "b", "c", "d", "e", "f"])
    ['d', 'f', 'c', 'b', 'e', 'a']
    """
    return sorted(ids, key=lambda each: sha256(each.encode()).digest())
