"""Lists the outcome of each pair of a file that the fast path has explained. The file is read a second time.

The rows are identical to those of the reference implementation. They are written block by block, so only the pairs of
one block are in memory. The pairs that hit a triplet are known from the explanation of the score.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.kernels.reading import ENTRIES, UNCLAIMED
from evaluator.metrics.errors import NO_ERROR
from evaluator.request import Resources
from evaluator.tracks.relationships.explain.errors import FIXABLE, MISSED, Compared, compared
from evaluator.tracks.relationships.explain.match_rows import PairRows, Row
from evaluator.tracks.relationships.fast.reader import RelationshipReader
from evaluator.tracks.relationships.pairs import (
    PairMatches,
    Pairs,
    nearest_phrases,
    nearest_triplets,
    pairs_of,
)
from evaluator.tracks.relationships.truth import RelationshipsTruth
from evaluator.tracks.shared.fast import FileVersion, read_again


class Claims:
    """Determines which pairs hit triplets and phrases, while the file is read again in order.

    A pair *claims* an object (a triplet or a phrase) if it could hit the object, or could do so if the error of the
    pair were fixed. The best of the pairs that claim an object *wins* it.

    Parameters
    ----------
    best : float64 array of shape (objects, 10)
        As in :class:`ExplainedRows`.
    """

    def __init__(self, best: NDArray[np.float64]) -> None:
        self.best = best
        self.is_free = best[:, 0] != UNCLAIMED

    def won(self, targets: NDArray[np.int64], pairs: Pairs, *codes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which pairs win the object that they claim.

        Of several equal pairs, the first one in the file wins.

        Parameters
        ----------
        targets : int64 array of shape (N,)
            Index of the object that each pair claims, or -1 for a pair that claims none.
        pairs : Pairs
        *codes : int64 array of shape (N,), optional
            Number that encodes the labels and the relation of each pair. It is needed if pairs with different labels or
            relations claim the same object.
        """
        claims = np.flatnonzero(targets >= 0)
        claims = claims[self.is_free[targets[claims]]]
        numbers = np.column_stack([values[claims] for values in (pairs.confidences, *pairs.coordinates, *codes)])
        claims = claims[(numbers == self.best[targets[claims], : numbers.shape[1]]).all(axis=1)]
        objects, first = np.unique(targets[claims], return_index=True)
        self.is_free[objects] = False
        won = np.zeros(len(targets), bool)
        won[claims[first]] = True
        return won


@dataclass(frozen=True, slots=True)
class ExplainedRows:
    """The rows of a file that the fast path has explained.

    Attributes
    ----------
    truth : RelationshipsTruth
    reader : RelationshipReader
        A reader that has not read anything yet. It keeps the labels, confidences and coordinates of pairs.
    submission : FileVersion
    resources : Resources
    best : float64 array of shape (3 × triplets, 10)
        Confidence and coordinates of the best pair that hits each triplet, of the best pair that hits each phrase, and
        of the best pair that would hit each triplet if the error of the pair were fixed. The last column encodes the
        labels and the relation of the latter pairs.
    """

    truth: RelationshipsTruth
    reader: RelationshipReader
    submission: FileVersion
    resources: Resources
    best: NDArray[np.float64]

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows; see :func:`evaluator.tracks.relationships.explain.match_rows.match_rows`."""
        rows, claims, count = PairRows(self.truth), Claims(self.best), len(self.truth.triplets)
        is_hit = self.best[:count, 0] != UNCLAIMED
        missed = np.where(is_hit, NO_ERROR, MISSED)
        for buffer, stop, position in read_again(self.submission, self.resources):
            self.reader.state.counts[ENTRIES] = 0
            self.reader.read(np.frombuffer(buffer, np.uint8), stop, position)
            matches = self._matches(claims)
            found = compared(self.truth, matches, self.reader.threshold)
            fixing = self._fixing(claims, matches, found)
            missed[found.triplets[fixing]] = found.kinds[fixing]
            yield from rows.of_pairs(matches, found)
        yield from rows.of_missed(np.where(is_hit, NO_ERROR, missed))

    def _pairs(self) -> Pairs:
        """Return the pairs of the block that has been read."""
        state, count = self.reader.state, self.reader.entries
        relations = state.relations[:count] % (len(self.truth.relations) + 1)
        images, first, second, relations = (
            codes.astype(np.int64) for codes in (state.images[:count], *state.labels[:count].T, relations)
        )
        numbers = state.numbers[:count]
        codes = images, first, second, relations
        return pairs_of(self.truth, codes, numbers[:, 0], numbers[:, 1:5], numbers[:, 5:])

    def _matches(self, claims: Claims) -> PairMatches:
        pairs, threshold, count = self._pairs(), self.reader.threshold, len(self.truth.triplets)
        triplets, overlaps = nearest_triplets(self.truth, pairs)
        phrases, phrase_overlaps = nearest_phrases(self.truth, pairs)
        hits = claims.won(np.where(overlaps >= threshold, triplets, -1), pairs)
        phrase_hits = claims.won(np.where(phrase_overlaps >= threshold, count + phrases, -1), pairs)
        return PairMatches(pairs, triplets, overlaps, hits, phrase_hits)

    def _fixing(self, claims: Claims, matches: PairMatches, found: Compared) -> NDArray[np.bool_]:
        """Return which of the scored pairs would hit a triplet if their error were fixed."""
        is_fixable = np.isin(found.kinds, FIXABLE) & (found.triplets >= 0)
        targets = np.where(is_fixable, 2 * len(self.truth.triplets) + found.triplets, -1)
        pairs = matches.pairs[matches.pairs.is_scored]
        return claims.won(targets, pairs, self.truth.keys.without_images(pairs.keys))
