"""The truth of the retrieval track."""

from dataclasses import dataclass
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
    """The queries of one direction, and their possible answers. A correct answer belongs to the image of the query.

    Attributes
    ----------
    images : dict of str to int
        Code of the image of each query, by the id of the query.
    answers : dict of str to int
        Index into ``answer_images`` of each answer, by the id of the answer.
    answer_images : int64 array
        Code of the image of each answer.
    """

    images: dict[str, int]
    answers: dict[str, int]
    answer_images: NDArray[np.int64]


class RetrievalTruth(Truth):
    """A gallery of images and captions; each caption belongs to one image."""

    captions = StoredTexts()
    """Id of each caption; shape (captions,)."""
    sentences = StoredTexts()
    """Text of each caption, empty if unknown; shape (captions,)."""
    caption_images = StoredArray[np.int64]()
    """Code of the image of each caption; shape (captions,)."""

    def queries(self, direction: Direction) -> Queries:
        """Return the queries of a direction and their answers, both sorted by id.

        They are sorted because files of earlier versions have the captions in the order of the truth, which the order
        of defects must not reveal.
        """
        captions = dict(sorted((caption, index) for index, caption in enumerate(self.captions)))
        images = {self.images[code]: code for code in np.unique(self.caption_images).tolist()}
        if direction == "image_to_sentence":
            return Queries(images, captions, self.caption_images)
        caption_images = self.caption_images.tolist()
        by_caption = {caption: caption_images[index] for caption, index in captions.items()}
        return Queries(by_caption, images, np.arange(len(self.images)))
