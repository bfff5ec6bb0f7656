"""Statistics of a ground truth for visual relationships."""

import numpy as np

from evaluator.tracks.relationships.truth import RelationshipsTruth
from evaluator.truth_statistics import Statistics, box_areas


def describe(truth: RelationshipsTruth, statistics: Statistics) -> None:
    """Add statistics about triplets, relations, and verified labels with and without a triplet to ``statistics``."""
    images, count = truth.triplet_images, max(len(truth.labels), 1)
    statistics.count_images("Images with triplets", images)
    statistics.count("Triplets", images)
    is_negative = np.isin(truth.verified, truth.negative)
    statistics.count("Verified labels in a triplet", truth.verified[~is_negative] // count)
    statistics.count("Verified labels without a triplet", truth.verified[is_negative] // count)
    statistics.per_image("Triplets per image", images)
    for title, boxes in (("first", truth.first_boxes), ("second", truth.second_boxes)):
        areas = box_areas(boxes)
        statistics.sizes(f"Area of the {title} box, as a fraction of the image", "triplets", areas, images)
    statistics.ranking(
        "Triplets per relation", "relation", truth.relations, truth.triplet_relations, images, truth.relation_names
    )
    first, second, _ = truth.keys.decode(truth.triplets)
    both, of_both = np.concatenate([first, second]), np.concatenate([images, images])
    statistics.ranking("Boxes of triplets per class", "class", truth.labels, both, of_both)
