"""Statistics of a ground truth for image-sentence retrieval."""

import numpy as np

from evaluator.tracks.retrieval.truth import RetrievalTruth
from evaluator.truth_statistics import Statistics


def describe(truth: RetrievalTruth, statistics: Statistics) -> None:
    """Add statistics about captions to ``statistics``."""
    images = truth.caption_images
    statistics.count("Captions", images)
    statistics.per_image("Captions per image", images)
    words = np.array([len(sentence.split()) for sentence in truth.sentences], np.int64)
    if words.any():
        statistics.numbers("Words per caption", "captions", words, images)
