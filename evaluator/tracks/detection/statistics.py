"""Statistics of a ground truth for detection, based on the boxes in boxes.csv without their copies for ancestors."""

import numpy as np

from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.truth_statistics import Statistics, box_areas


def describe(truth: DetectionTruth, statistics: Statistics) -> None:
    """Add statistics about boxes, classes and labels verified as present or as absent to ``statistics``."""
    objects, groups = truth.object_is_annotated, truth.group_is_annotated
    keys = np.concatenate([truth.object_keys[objects], truth.group_keys[groups]])
    rows = np.concatenate([truth.object_rows[objects], truth.group_rows[groups]])
    images, labels = truth.images_and_labels(keys)
    is_group = np.arange(len(keys)) >= int(objects.sum())
    statistics.count_images("Images with boxes", images)
    statistics.count("Boxes", images)
    statistics.share("Share of group-of boxes", images, is_group)
    for index, name in enumerate(truth.attribute_names):
        values = truth.attributes[rows, index]
        known = values >= 0
        if known.any():
            statistics.share(f"Share of boxes with {name}", images[known], values[known] == 1)
    verified = truth.labelled_unexpanded
    has_box = np.isin(verified, keys)
    statistics.count("Verified labels with a box", truth.images_and_labels(verified[has_box])[0])
    statistics.count("Verified labels without a box", truth.images_and_labels(verified[~has_box])[0])
    statistics.per_image("Boxes per image", images)
    boxes = np.concatenate([truth.boxes[objects], truth.group_boxes[groups]])
    statistics.sizes("Area of boxes, as a fraction of the image", "boxes", box_areas(boxes), images)
    statistics.ranking("Boxes per class", "class", truth.labels, labels, images, truth.names)
    statistics.ranking(
        "Group-of boxes per class", "class", truth.labels, labels[is_group], images[is_group], truth.names
    )
