"""Statistics of a ground truth for ObjectNet."""

import numpy as np

from evaluator.tracks.objectnet.truth import CLASS_IDS, UNKNOWN, ObjectNetTruth
from evaluator.truth_statistics import Statistics


def describe(truth: ObjectNetTruth, statistics: Statistics) -> None:
    """Add statistics about classes and controls to ``statistics``."""
    (images,) = np.nonzero(truth.answers != UNKNOWN)
    statistics.count("Images with an answer", images)
    statistics.ranking("Images per class", "class", list(CLASS_IDS), truth.answers[images], images, truth.names)
    for control in truth.controls:
        (known,) = np.nonzero(control.codes != UNKNOWN)
        statistics.ranking(f"Images per {control.name}", control.name, control.values, control.codes[known], known)
