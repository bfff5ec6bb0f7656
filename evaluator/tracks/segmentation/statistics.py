"""Statistics of a ground truth for segmentation, based on the masks in masks.csv without their copies for ancestors."""

import numpy as np

from evaluator.tracks.segmentation.truth import SegmentationTruth
from evaluator.truth_statistics import Statistics


def describe(truth: SegmentationTruth, statistics: Statistics) -> None:
    """Add statistics about masks, classes and labels verified as present or as absent to ``statistics``."""
    keys = np.concatenate([truth.object_keys, truth.group_keys])
    rows = np.concatenate([truth.object_masks, truth.group_masks])
    is_group = np.arange(len(keys)) >= len(truth.object_keys)
    annotated = np.concatenate([truth.object_is_annotated, truth.group_is_annotated])
    keys, rows, is_group = keys[annotated], rows[annotated], is_group[annotated]
    images, labels = truth.images_and_labels(keys)
    statistics.count_images("Images with masks", images)
    statistics.count("Masks", images)
    statistics.share("Share of group-of masks", images, is_group)
    verified = truth.verified
    has_mask = np.isin(verified, np.concatenate([truth.object_keys, truth.group_keys]))
    statistics.count("Image-class pairs with a mask", truth.images_and_labels(verified[has_mask])[0])
    statistics.count("Image-class pairs without a mask", truth.images_and_labels(verified[~has_mask])[0])
    statistics.per_image("Masks per image", images)
    pixels = np.maximum(truth.widths * truth.heights, 1)[images]
    statistics.sizes("Area of masks, as a fraction of the image", "masks", truth.areas[rows] / pixels, images)
    statistics.ranking("Masks per class", "class", truth.labels, labels, images, truth.names)
