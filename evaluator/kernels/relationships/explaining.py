"""Determines the kind of error of each predicted pair that is a false positive.

The reference implementations are ``evaluator.tracks.relationships.explain.errors`` and ``evaluator.metrics.errors``.
"""

import numpy as np

from evaluator.kernels.jit import inlined, subroutine
from evaluator.kernels.reading import IGNORED as IGNORED_IMAGE
from evaluator.kernels.relationships.comparing import as_float32, claim, triplet_overlap

# Outcomes of curve entries. UNKNOWN applies to pairs with an unknown label and to pairs in images that are not scored.
# IGNORED applies to other pairs that are not scored. A false positive has the outcome FIXABLE plus its kind of error if
# it would hit a triplet without this error. All other false positives have the outcome FALSE plus their kind of error.
# If a FIXABLE error is in the relation, a second entry for the pair, with the outcome ARRIVAL, is added to the curve of
# the triplet's relation.
UNKNOWN, IGNORED, HIT, ARRIVAL = range(4)
FALSE, FIXABLE, OUTCOMES = 8, 16, 32
# Kinds of errors, and the overlap up to which a pair counts as background; see ``evaluator.metrics.errors``.
DUPLICATE, LOCALIZATION, RELATION, SUBJECT, OBJECT, SEVERAL, BACKGROUND = range(7)
BACKGROUND_OVERLAP = 0.1


@inlined
def _better(triplet, overlap, is_candidate, best):
    """Return the given triplet if it is a candidate with a higher overlap than ``best``, otherwise ``best``.

    The comparison has no branches, because the CPU could not predict which triplet is better.
    """
    is_better = is_candidate & (overlap > best[1])
    return (triplet if is_better else best[0]), (overlap if is_better else best[1])


@inlined
def _kind_of(threshold, exact, relation, subject, object_, highest):
    """Return the kind of error of a false positive, and the triplet (index, overlap) to which the error refers.

    ``exact`` is the triplet with the highest overlap that has the labels and the relation of the pair. ``relation``,
    ``subject`` and ``object_`` are those that differ from the pair only in this part. If the error cannot be fixed, the
    returned triplet is ``exact``.
    """
    if exact[1] >= threshold:
        return DUPLICATE, exact
    if exact[1] >= BACKGROUND_OVERLAP:
        return LOCALIZATION, exact
    if relation[1] >= threshold:
        return RELATION, relation
    if subject[1] >= threshold:
        return SUBJECT, subject
    if object_[1] >= threshold:
        return OBJECT, object_
    return (BACKGROUND if highest <= BACKGROUND_OVERLAP else SEVERAL), exact


@subroutine
def explain(truth, state, threshold, entry, is_scored, codes, exact, confidence, coordinates):
    """Determine the outcome of a pair, and let it claim the triplet that it would hit if its error were fixed.

    If there is no such triplet, the pair claims an additional candidate instead; see ``state.best_candidates``.

    The pair is compared with all triplets of its image. If the image has no triplets, the pair is compared with a
    triplet of another image, and the result is discarded. Pairs that are not scored are compared too. Without these
    comparisons, the scoring time would reveal which triplets exist.

    Parameters
    ----------
    entry : int64
        Index of the pair's curve entry.
    is_scored : bool
    codes : three int64
        First label, second label and relation of the pair.
    exact : (int64, float64)
        Index of the triplet with these codes that the pair overlaps most, and the overlap, which is 0 if there is none.
    confidence, coordinates : float64, eight float64
    """
    image = np.int64(state.images[entry])
    begin, stop = np.int64(truth.triplets_from[image]), np.int64(truth.triplets_from[image + 1])
    has_triplets = stop > begin
    if not has_triplets:
        begin, stop = np.int64(0), min(np.int64(1), np.int64(len(truth.triplets)))
    first, second = as_float32(coordinates, 0), as_float32(coordinates, 4)
    highest, none = 0.0, (np.int64(-1), 0.0)
    relation, subject, object_ = none, none, none
    for at in range(begin, stop):
        overlap = triplet_overlap(truth, at, first, second)
        highest = max(highest, overlap)
        same_subject, same_object = truth.codes[at, 0] == codes[0], truth.codes[at, 1] == codes[1]
        same_relation = truth.codes[at, 2] == codes[2]
        relation = _better(at, overlap, same_subject & same_object & (not same_relation), relation)
        subject = _better(at, overlap, same_object & same_relation & (not same_subject), subject)
        object_ = _better(at, overlap, same_subject & same_relation & (not same_object), object_)
    kind, (triplet, overlap) = _kind_of(threshold, exact, relation, subject, object_, highest)
    if codes[0] < 0 or codes[1] < 0 or truth.usage[image] == IGNORED_IMAGE:
        state.outcomes[entry] = UNKNOWN
    elif not is_scored:
        state.outcomes[entry] = IGNORED
    else:
        # Without triplets, the kind of error is BACKGROUND.
        state.outcomes[entry] = FALSE + (kind if has_triplets else BACKGROUND)
    is_fixable = is_scored & has_triplets & (kind >= LOCALIZATION) & (kind <= OBJECT)
    target = 2 * len(truth.triplets) + triplet if is_fixable else len(state.best_candidates) - 1
    # Pairs with different labels or relations can claim the same triplet. Even if their boxes and confidences are
    # equal, their kinds of errors can differ. In this case, their codes decide, as in ``TripletKeys.without_images``.
    labels, relations = len(truth.labels.starts) - 1, len(truth.relations.starts) - 1
    relation_code = codes[2] if codes[2] >= 0 else np.int64(relations)
    code = (codes[0] * labels + codes[1]) * (relations + 1) + relation_code
    claim(state, target, entry, confidence, overlap, (*coordinates, np.float64(code)))
