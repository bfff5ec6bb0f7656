"""Compiles a ground truth folder of the image-level classification track."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.folder import TruthFolder
from evaluator.metrics.matching import contains
from evaluator.texts import counted
from evaluator.tracks.checking import checked, distinct_keys, usage_of
from evaluator.tracks.classification.fast.truth import kernel_arrays
from evaluator.tracks.classification.truth import ClassificationTruth
from evaluator.tracks.shared.labels import Labelling
from evaluator.tracks.shared.parameters import TrackParameters


def compile_truth(folder: TruthFolder, parameters: TrackParameters) -> ClassificationTruth:
    """Check a ground truth folder and compile it.

    Raises
    ------
    InvalidTruth
        If the ground truth folder has faults.
    """
    tables = {"image_labels.csv": folder.table("image_labels.csv")}
    labelling = Labelling.of(folder, tables, expand=True)
    usage = usage_of(folder, labelling.images)
    folder.faults.check()
    classes = len(labelling.labels)
    present, absent = (
        distinct_keys(*labelling.verified_as(present=is_present), classes) for is_present in (True, False)
    )
    verified = np.union1d(present, absent)
    arrays: dict[str, NDArray[Any]] = {
        "verified": verified,
        "present": contains(present, verified),
        **labelling.listed_arrays,
        "usage": usage,
        **kernel_arrays(verified, labelling.images, labelling.labels, labels_listed=labelling.closed),
    }
    _warn_of_certain_classes(folder, present, absent, classes)
    flags, texts = labelling.flags(folder), labelling.texts
    return checked(folder.faults, ClassificationTruth(folder.track.name, folder.sha256, {}, flags, texts, arrays))


def _warn_of_certain_classes(
    folder: TruthFolder, present: NDArray[np.int64], absent: NDArray[np.int64], classes: int
) -> None:
    """Warn about classes that are never verified as absent, because their AP does not depend on the submission."""
    classes = max(classes, 1)
    certain = np.setdiff1d(present % classes, np.setdiff1d(absent, present) % classes)
    if len(certain):
        are, their = ("is", "its") if len(certain) == 1 else ("are", "their")
        classes_are = f"{counted(len(certain), 'class', 'classes')} {are}"
        message = f"{classes_are} not verified as absent in any image; {their} AP is 1 for every submission"
        folder.faults.warn("truth_only_present", "image_labels.csv", message)
