"""Statistics of a ground truth for image-level classification."""

from evaluator.tracks.classification.truth import ClassificationTruth
from evaluator.truth_statistics import Statistics


def describe(truth: ClassificationTruth, statistics: Statistics) -> None:
    """Add statistics about the labels that were verified as present or as absent to ``statistics``."""
    images, labels = truth.images_and_labels(truth.verified)
    present = truth.present
    statistics.count("Labels verified as present", images[present])
    statistics.count("Labels verified as absent", images[~present])
    statistics.share("Share of verified labels that are present", images, present)
    statistics.per_image("Present labels per image", images[present])
    statistics.per_image("Verified labels per image", images)
    statistics.ranking("Images per class", "class", truth.labels, labels[present], images[present], truth.names)
    statistics.ranking(
        "Images where a class is verified as absent",
        "class",
        truth.labels,
        labels[~present],
        images[~present],
        truth.names,
    )
