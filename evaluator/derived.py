"""Keeps data that depends only on a prepared ground truth, for scoring later submissions against it.

A worker scores many small files against few ground truths. For a large ground truth, computing such data takes much
longer than scoring a small file. The data does not depend on submissions, so keeping it reveals nothing.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, TypeVar

from evaluator.file_states import Identity
from evaluator.prepared import Mapped
from evaluator.truth import Truth

# Number of ground truths whose data this process keeps. The data of a ground truth with 100,000 images and 500 classes
# takes about 50 MB.
KEPT_TRUTHS = 2
_KEPT: OrderedDict[tuple[Path, Identity], dict[Hashable, Any]] = OrderedDict()

Derived = TypeVar("Derived")


def derived(truth: Truth, key: Hashable, compute: Callable[[], Derived]) -> Derived:
    """Return the result of ``compute``, which must depend only on the ground truth and on ``key``.

    The result is kept until the file of the ground truth changes, or until :data:`KEPT_TRUTHS` other ground truths have
    been used. It must not be modified. Only results for prepared ground truths are kept, because only their files have
    checksums.
    """
    kept = _kept(truth)
    if key not in kept:
        kept[key] = compute()
    result: Derived = kept[key]
    return result


def _kept(truth: Truth) -> dict[Hashable, Any]:
    state = truth.arrays.settled_state if isinstance(truth.arrays, Mapped) else None
    if state is None:
        return {}
    kept = _KEPT.setdefault(state, {})
    _KEPT.move_to_end(state)
    while len(_KEPT) > KEPT_TRUTHS:
        _KEPT.popitem(last=False)
    return kept
