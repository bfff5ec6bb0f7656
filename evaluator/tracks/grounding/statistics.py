"""Statistics of a ground truth for phrase grounding."""

import numpy as np

from evaluator.tracks.grounding.truth import GroundingTruth
from evaluator.truth_statistics import Statistics, box_areas


def describe(truth: GroundingTruth, statistics: Statistics) -> None:
    """Add statistics about sentences, phrases and boxes to ``statistics``."""
    images, boxes_of = truth.phrase_images, np.diff(truth.box_starts)
    sentence_images = images[truth.phrase_starts[:-1]]
    box_images = np.repeat(images, boxes_of)
    statistics.count("Sentences", sentence_images)
    statistics.count("Phrases", images)
    statistics.count("Boxes", box_images)
    statistics.per_image("Phrases per image", images)
    statistics.numbers("Boxes per phrase", "phrases", boxes_of, images)
    statistics.pixel_sizes("Size of boxes, in pixels", "boxes", box_areas(truth.boxes), box_images)
    phrases, types = np.nonzero(truth.has_type)
    statistics.ranking("Phrases per type", "type", truth.types, types, images[phrases])
