"""What the kernels that read a submission have in common: their counts, what they return, and how an image begins."""

from evaluator.kernels.jit import part
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.lookup import is_plain, text_at
from evaluator.kernels.text.prediction_strings import COMMA

IGNORED, PUBLIC, PRIVATE = 0, 1, 2  # usage of an image
UNCLAIMED = -1.0  # the confidence of an object's best candidate where it has none

# Positions in State.counts.
ENTRIES, STRANGERS, IMAGES, PREDICTIONS, UNKNOWN_IMAGES, UNKNOWN_LABELS, INVERTED, OUTSIDE, BEYOND_ONE = range(9)

# Status of a reading kernel: done, or why the reference implementation is needed.
DONE, ODD, NEGATIVE = 0, 1, 2


@part
def count_oddities(counts, confidence, corners):
    """Count what is scored by the rules but was hardly meant; tell whether the box is sound."""
    x_min, x_max, y_min, y_max = corners
    low, high = min(min(x_min, x_max), min(y_min, y_max)), max(max(x_min, x_max), max(y_min, y_max))
    sound = x_min < x_max and y_min < y_max
    if low < 0.0 or high > 1.0 or confidence > 1.0 or not sound:
        counts[INVERTED] += not sound
        counts[OUTSIDE] += low < 0.0 or high > 1.0
        counts[BEYOND_ONE] += confidence > 1.0
    return sound


@part
def next_image(data, at, truth, state):
    """Read a line's image and note that it has its row.

    Returns (its code, where the predictions begin: 0 where the line is odd or the image had a row already).
    """
    image, end, name = text_at(data, at, truth.images)
    if byte_at(data, end) != COMMA:
        return image, 0
    state.counts[IMAGES] += 1
    if image >= 0:
        if state.named[image]:
            return image, 0
        state.named[image] = 1
        return image, end + 1
    if truth.closed[0] or not is_plain(data, at, end):
        return image, 0
    state.strangers[state.counts[STRANGERS]] = name
    state.counts[STRANGERS] += 1
    state.counts[UNKNOWN_IMAGES] += 1
    return image, end + 1
