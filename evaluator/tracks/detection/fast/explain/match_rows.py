"""Creates the rows of the match table, with the outcome of each prediction, on the fast path. The file is read again.

The rows are identical to those of the reference implementation. In the Kaggle layout, they are written block by
block, so only the predictions of one block are in memory. In the long layout, the rows of an image may be anywhere in
the file, so all predictions of the file are kept in memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.detection.explain.comparing import ALL_RULES
from evaluator.kernels.detection.explain.explained import ABSORBED, FALSE, HIT, Predictions
from evaluator.metrics.errors import GROUP_OF, NO_ERROR
from evaluator.request import Resources
from evaluator.tracks.detection.candidates import Detections
from evaluator.tracks.detection.explain.errors import Errors, Nearest, explaining_objects
from evaluator.tracks.detection.explain.match_rows import MatchRows, Outcomes, Row, outcomes_of
from evaluator.tracks.detection.fast.collecting_reader import NO_CAPS, PARTS, joined, piece_of
from evaluator.tracks.detection.fast.explain.explaining_reader import ExplainingReader, ObjectOutcomes
from evaluator.tracks.detection.matches import Matches, confidences_of_groups, highest_confidences
from evaluator.tracks.detection.truth import DetectionTruth
from evaluator.tracks.shared.fast import FileVersion, read_again


def sorted_by(ranks: NDArray[np.int64], found: Predictions) -> Predictions:
    """Return predictions sorted by the value in ``ranks`` for their image. Predictions of an image keep their order."""
    order = np.argsort(ranks[found.images], kind="stable")
    return Predictions(found.images[order], found.labels[order], found.numbers[order], NO_CAPS)


@dataclass(slots=True)
class ExplainedRows:
    """The rows of the match table for a submission file, computed by the fast path.

    Attributes
    ----------
    truth : DetectionTruth
    reader : ExplainingReader
        A reader that has not read anything.
    submission : FileVersion
    resources : Resources
    objects : ObjectOutcomes
        The outcomes of all objects, from the explanation of the score.
    group_weight : float
    """

    truth: DetectionTruth
    reader: ExplainingReader
    submission: FileVersion
    resources: Resources
    objects: ObjectOutcomes
    group_weight: float
    rows: MatchRows = field(init=False)

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows; see :func:`evaluator.tracks.detection.explain.match_rows.match_rows`."""
        self.rows = MatchRows(self.truth)
        for found in self._lines_of_images() if self.reader.header.kaggle else self._parts():
            yield from self._rows_of(found)
        is_found = self.objects.group_is_found | (self.group_weight == 0)
        yield from self.rows.of_missed(self.objects.box_kinds, np.where(is_found, NO_ERROR, GROUP_OF))

    def _lines_of_images(self) -> Iterator[Predictions]:
        """Yield the predictions of each block of a file that has one line for each image."""
        for buffer, stop, _ in read_again(self.submission, self.resources):
            yield self.reader.collect(np.frombuffer(buffer, np.uint8), stop)

    def _parts(self) -> Iterator[Predictions]:
        """Yield the predictions of a file that has one line for each prediction, in parts.

        Each part has all predictions of its images. Images are in the order of their first prediction whose label is
        known.
        """
        kept, ranks = self._kept()
        total = np.cumsum(self.reader.state.image_predictions[np.argsort(ranks)])
        bounds = np.unique(np.searchsorted(total, np.linspace(0, total[-1:].sum(), PARTS + 1)[1:-1]))
        bounds = np.concatenate([[0], bounds, [len(total)]])
        for number, found in enumerate(kept):
            kept[number] = sorted_by(ranks, found)
        positions = [np.searchsorted(ranks[found.images], bounds).tolist() for found in kept]
        for part in range(len(bounds) - 1):
            pieces = [piece_of(found, at[part], at[part + 1]) for found, at in zip(kept, positions, strict=True)]
            if pieces:
                yield sorted_by(ranks, joined(pieces))

    def _kept(self) -> tuple[list[Predictions], NDArray[np.int64]]:
        """Return the predictions of each block of the file, and the position of each image in the order of the rows.

        Images are in the order of their first prediction whose label is known. Images without one come last.
        """
        kept, seen, unseen = [], 0, len(self.truth.images)
        ranks = np.full(unseen, unseen)
        for buffer, stop, _ in read_again(self.submission, self.resources):
            found = self.reader.collect(np.frombuffer(buffer, np.uint8), stop)
            kept.append(Predictions(found.images.copy(), found.labels.copy(), found.numbers.copy(), NO_CAPS))
            known = found.images[found.labels >= 0]
            images, first = np.unique(known[ranks[known] == unseen], return_index=True)
            ranks[images[np.argsort(first)]] = np.arange(seen, seen + len(images))
            seen += len(images)
        ranks[ranks == unseen] = np.arange(seen, unseen)
        return kept, ranks

    def _rows_of(self, found: Predictions) -> Iterator[Row]:
        """Yield a row for each given prediction and each copy for an ancestor, if its label is known.

        The given predictions must include all predictions of each of their images.
        """
        found, origins = self.reader.judge(found)
        chosen = np.flatnonzero(found.labels >= 0)
        known, outcomes = self._outcomes(found, chosen)
        order = np.argsort(origins[chosen], kind="stable")
        yield from self.rows.of_detections(known[order], outcomes[order])

    def _outcomes(self, found: Predictions, chosen: NDArray[np.int64]) -> tuple[Detections, Outcomes]:
        """Return the predictions at the indices ``chosen``, and their outcomes."""
        known = Detections(
            found.images[chosen].astype(np.int64),
            found.labels[chosen].astype(np.int64),
            found.numbers[chosen, 0],
            found.numbers[chosen, 1:],
            chosen,
            np.arange(len(chosen)),
        )
        matches, errors = self._matches(known)
        return known, outcomes_of(self.truth, known, matches, errors)

    def _matches(self, known: Detections) -> tuple[Matches, Errors]:
        """Return the matches and errors of the scored predictions, converted from the results of the kernel."""
        results = self.reader.overlaps
        codes = results.outcomes[ALL_RULES, known.rows].astype(np.int64)
        scored = known[codes >= HIT]
        codes, at = codes[codes >= HIT], scored.rows
        groups, shares, absorbed = results.groups[ALL_RULES, at], results.shares[ALL_RULES, at], codes == ABSORBED
        own = Nearest(results.boxes[ALL_RULES, at], results.ious[ALL_RULES, at])
        highest = groups[absorbed], scored.confidences[absorbed], len(self.truth.group_keys)
        in_turn = self.reader.in_turn
        of_groups = highest_confidences(*highest) if in_turn else confidences_of_groups(*highest, self.group_weight)
        matches = Matches(
            detections=scored,
            verified=np.ones(len(scored), bool),
            objects=own.objects,
            overlaps=own.overlaps,
            hits=codes == HIT,
            groups=groups,
            shares=shares,
            absorbed=absorbed,
            group_confidences=of_groups,
            curves=scored.labels,
        )
        kinds = np.where(codes >= FALSE, codes - FALSE, NO_ERROR)
        other = Nearest(results.others[at], results.other_ious[at])
        explaining = explaining_objects(kinds, own, other, shares)
        nothing = np.empty(0, np.int64)
        return matches, Errors(kinds, explaining.objects, explaining.overlaps, nothing, nothing, nothing)
