"""Explains a score of the detection track with compiled kernels.

The report is identical to that of the reference implementation.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from evaluator.catalog import DETECTION
from evaluator.derived import derived
from evaluator.kernels.detection.explain.explained import OUTCOMES
from evaluator.problems import Findings
from evaluator.report import MatchTable
from evaluator.request import ScoringRequest
from evaluator.tracks.detection.explain.match_rows import COLUMNS, TYPES, Row
from evaluator.tracks.detection.fast.collecting_reader import evaluate_kept
from evaluator.tracks.detection.fast.explain.explained_split import ExplainedFile, ExplainedSplit
from evaluator.tracks.detection.fast.explain.explaining_reader import ExplainingReader, ObjectOutcomes
from evaluator.tracks.detection.fast.explain.match_rows import ExplainedRows
from evaluator.tracks.detection.fast.reader import refuse_missing_images
from evaluator.tracks.detection.fast.truth import hierarchy_of, kernel_truth, with_class_ranges
from evaluator.tracks.detection.fiftyone import counted
from evaluator.tracks.detection.truth import DetectionParameters, DetectionTruth
from evaluator.tracks.interface import Outcome
from evaluator.tracks.shared.curves.variants import CodedCurves, Segments
from evaluator.tracks.shared.fast import (
    FileHeader,
    FileVersion,
    add_notices,
    predictions_of_images,
    read_all,
    require_one_row_per_image,
)


def explained(
    truth: DetectionTruth, request: ScoringRequest, parameters: DetectionParameters, findings: Findings
) -> Outcome:
    """Return the outcome of a submission, with the tables that explain it.

    The file is read once, and a second time when the rows of the match table are read.

    Raises
    ------
    Declined
        If the reference implementation must read the file.
    """
    whole, in_turn = truth, parameters.protocol == "fiftyone"
    if in_turn:
        truth = with_class_ranges(counted(whole, parameters))
    arrays = kernel_truth(truth, expand_predictions=parameters.expand_predictions)
    hierarchy, resources = derived(truth, "hierarchy", lambda: hierarchy_of(truth)), request.resources
    objects, version = ObjectOutcomes.of(arrays), FileVersion.of(request.submission)

    def readers_for(header: FileHeader) -> Sequence[ExplainingReader]:
        threads = range(resources.threads)
        return [ExplainingReader(arrays, hierarchy, header, parameters, objects) for _ in threads]

    readers = read_all(request.submission, resources, DETECTION, readers_for)
    resources.progress("matching", 0.0)
    refuse_missing_images(readers, parameters)
    if readers[0].header.kaggle:
        require_one_row_per_image(readers)
    else:
        evaluate_kept(readers, predictions_of_images(readers))
    header = readers[0].header
    add_notices(whole, readers, findings)
    resources.progress("scoring", 0.0)
    codes, times = zip(*(reader.confusions.counts() for reader in readers), strict=True)
    found = ExplainedFile(
        truth=truth,
        hierarchy=hierarchy,
        curves=_curves(readers, len(truth.labels), resources.threads),
        objects=objects,
        confusions=(np.concatenate(codes), np.concatenate(times)),
        group_weight=parameters.group_of_weight,
        has_ablation=not in_turn,
    )
    splits = {name: ExplainedSplit(found, name) for name in truth.splits}
    # Without a private split, all scored images are public, so the public split equals the split of all images.
    if "private" not in splits:
        splits["public"] = splits["all"]

    def rows() -> Iterator[Row]:
        reader = ExplainingReader(arrays, hierarchy, header, parameters, objects)
        return iter(ExplainedRows(truth, reader, version, resources, objects, parameters.group_of_weight))

    return Outcome(
        {name: split.report for name, split in splits.items()},
        curves=lambda name: splits[name].curves,
        matches=MatchTable(COLUMNS, rows, TYPES),
    )


def _curves(readers: Sequence[ExplainingReader], labels: int, threads: int) -> CodedCurves:
    """Return the precision/recall curve entries that all readers have collected, and remove them from the readers."""
    segments: Segments = []
    for reader in readers:
        segments.extend(reader.segments)
        reader.segments.clear()
    # Each label has one precision/recall curve for scored entries and one for unscored entries. All unknown labels
    # count as one label.
    return CodedCurves.of(segments, 2 * labels + 2, reported=labels, low=2 * OUTCOMES, threads=threads)
