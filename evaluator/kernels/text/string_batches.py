"""Reads the predictions of a prediction string into a batch.

The values of a prediction have the same kinds as in the long layout (see :mod:`.csv_rows`): first the texts, then the
numbers. Kind 0 is the image, which is not part of the string.
"""

import numpy as np

from evaluator.kernels.jit import inlined, subroutine
from evaluator.kernels.text.bits import byte_at
from evaluator.kernels.text.csv_blocks import BATCH_ROWS, codes_of, numbers_of
from evaluator.kernels.text.lookup import is_accepted, prefetch_slot, text_at
from evaluator.kernels.text.prediction_strings import (
    BLANK,
    LINE_FEED,
    RETURN,
    TAB,
    after_blanks,
    after_line,
    token_ends_at,
    token_number_at,
)
from evaluator.kernels.text.vectors import EIGHT, WIDTH


@inlined
def _plain_tokens_at(data, at, tokens, images, ends):
    """Find the ends of the tokens of up to ``BATCH_ROWS`` predictions, which must be separated by single blanks.

    Return the number of predictions; 0 if :func:`_any_predictions_at` is needed to read them. ``ends`` is as for
    :func:`token_ends_at`.
    """
    most = np.int64(tokens * BATCH_ROWS)
    found = token_ends_at(data, at, ends[: most + 1 + WIDTH + EIGHT])
    if found > most:
        return np.int64(BATCH_ROWS)
    end = ends[found]
    # The slot of the next line's image is loaded into the cache while the predictions of this line are read.
    prefetch_slot(data, end + 1, images)
    # A blank at the end of the line is followed by an empty token.
    found -= end == ends[found - 1] + 1
    if found % tokens or byte_at(data, end) not in (LINE_FEED, RETURN):
        return np.int64(0)
    return found // tokens


@inlined
def _plain_predictions_at(data, at, indexes, closed, tokens, token_of_kind, batch):
    """Fill a batch, one kind of value after another. Return the number of predictions and the offset after them.

    The number is 0 if the tokens are not separated by single blanks, or if one of them is not accepted. The caller then
    uses :func:`_any_predictions_at`.
    """
    rows = _plain_tokens_at(data, at, tokens, indexes[0], batch.ends)
    for kind in range(1, len(indexes)):
        codes, first = batch.codes[kind, :rows], token_of_kind[kind]
        if not codes_of(data, batch.ends, first, tokens, indexes[kind], closed[kind], codes):
            return np.int64(0), at
    for kind in range(len(indexes), len(token_of_kind)):
        numbers, first = batch.numbers[kind - len(indexes), :rows], token_of_kind[kind]
        if not numbers_of(data, batch.ends, first, tokens, numbers):
            return np.int64(0), at
    return rows, batch.ends[rows * tokens]


@inlined
def _text_at(data, at, index, closed, last):
    """Look up a text token. Return its code and the offset after it, which is 0 if the token is not accepted."""
    begin = after_blanks(data, at)
    code, end, _ = text_at(data, begin, index)
    byte = byte_at(data, end)
    if end == begin or not (byte in (BLANK, TAB) or (last and byte in (LINE_FEED, RETURN))):
        return np.int64(-1), np.int64(0)
    return code, end if is_accepted(data, begin, end, code, closed) else np.int64(0)


@subroutine
def _any_predictions_at(data, at, indexes, closed, kind_of_token, batch):
    """Fill a batch, one token after another. Return the number of predictions and the offset after them.

    The offset is 0 if a prediction cannot be read by a kernel.
    """
    rows, tokens, texts = 0, len(kind_of_token), len(indexes)
    while rows < BATCH_ROWS:
        at = after_blanks(data, at)
        if byte_at(data, at) == LINE_FEED or byte_at(data, at) == RETURN:
            break
        for token in range(tokens):
            kind = kind_of_token[token]
            if kind >= texts:
                batch.numbers[kind - texts, rows], at = token_number_at(data, at)
            else:
                batch.codes[kind, rows], at = _text_at(data, at, indexes[kind], closed[kind], token == tokens - 1)
            if at == 0:
                return rows, at
        rows += 1
    return rows, at


@inlined
def read_predictions(data, at, indexes, closed, kind_of_token, token_of_kind, batch):
    """Fill a batch with the next predictions of a line. Return their number and the offset after them.

    At the end of the line, the number is 0, and the offset is that of the next line. The offset is 0 if the line cannot
    be read by a kernel.

    Parameters
    ----------
    data : uint8 array
        Must be readable for 96 bytes beyond the end of the line.
    at : int64
        Offset of the next prediction, of blanks before it, or of the end of the line.
    indexes : tuple of TextIndex
        The hash table for each kind of text; the first one is that of images.
    closed : bool array, or tuple of bool
        For each kind of text, whether an unknown text is a defect.
    kind_of_token : tuple of int
        Kind of each token of a prediction.
    token_of_kind : tuple of int
        The inverse: index of the token of each kind. The first element, for the image, is not used.
    batch : Batch
        The codes of kind 0, the image, are not changed.
    """
    at = after_blanks(data, at)
    if byte_at(data, at) == LINE_FEED or byte_at(data, at) == RETURN:
        return np.int64(0), after_line(data, at)
    rows, after = _plain_predictions_at(data, at, indexes, closed, len(kind_of_token), token_of_kind, batch)
    if rows == 0:
        return _any_predictions_at(data, at, indexes, closed, kind_of_token, batch)
    return rows, after
