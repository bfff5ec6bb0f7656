"""Defines the ground truth of the retrieval track."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluator.truth import StoredArray, StoredTexts, Truth

Direction = Literal["image_to_sentence", "sentence_to_image"]
DIRECTIONS: dict[Direction, str] = {
    "image_to_sentence": "Image to sentence",
    "sentence_to_image": "Sentence to image",
}
DEPTHS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Queries:
    """The queries of one direction and their possible answers. An answer is correct if it belongs to the query's image.

    Attributes
    ----------
    images : dict of str to int
        Image code of each query, by query id.
    correct : dict of int to frozenset of str
        Ids of all correct answers to the queries of an image, by image code.
    answers : frozenset of str
        Ids of all possible answers.
    """

    images: Mapping[str, int]
    correct: Mapping[int, frozenset[str]]
    answers: frozenset[str]


class RetrievalTruth(Truth):
    """The ground truth: a gallery of images and captions. Each caption belongs to one image."""

    captions = StoredTexts()
    """Id of each caption; shape (captions,)."""
    sentences = StoredTexts()
    """Text of each caption, or an empty string if the text is unknown; shape (captions,)."""
    caption_images = StoredArray[np.int64]()
    """Code of the image that each caption belongs to; shape (captions,)."""

    @property
    def public_texts(self) -> dict[str, Sequence[str]]:
        """The strings that participants may see: the ids of images with captions and of all captions, both sorted."""
        images = [self.images[code] for code in np.unique(self.caption_images).tolist()]
        return {"images": images, "captions": sorted(self.captions)}

    @property
    def public_arrays(self) -> dict[str, NDArray[np.int64]]:
        """The arrays for a check kit, which participants use to check submissions: an arbitrary image per caption.

        The image that a caption really belongs to is secret. A check needs some image for each caption, so the images
        are assigned to the captions in turn.
        """
        images = max(len(np.unique(self.caption_images)), 1)
        return {"caption_images": np.arange(len(self.captions)) % images}

    @cached_property
    def images_by_caption(self) -> Mapping[str, int]:
        """A dict that maps each caption, sorted by id, to the code of its image."""
        return dict(sorted(zip(self.captions, self.caption_images.tolist(), strict=True)))

    def queries(self, direction: Direction) -> Queries:
        """Return the queries of a direction, sorted by id, and their answers.

        A direction is image to sentence, or sentence to image. Defects of a submission are reported in the order of the
        queries. Without sorting, this order could reveal which images the captions belong to, because ground truths
        that were prepared by earlier versions keep the order of captions in the ground truth folder.
        """
        ids, captions = list(self.images), self.images_by_caption
        images = {ids[code]: code for code in np.unique(self.caption_images).tolist()}
        if direction == "sentence_to_image":
            return Queries(captions, {code: frozenset([image]) for image, code in images.items()}, frozenset(images))
        correct: dict[int, list[str]] = {code: [] for code in images.values()}
        for caption, code in captions.items():
            correct[code].append(caption)
        return Queries(images, {code: frozenset(own) for code, own in correct.items()}, frozenset(captions))
