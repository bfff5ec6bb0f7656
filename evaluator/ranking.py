"""Computes the ranks of entries on a leaderboard from their scores."""

from collections.abc import Sequence


def competition_ranks(scores: Sequence[float], *, better: int = 0, before: int = 0) -> list[int]:
    """Return the rank of each score. The scores must be in descending order.

    Equal scores share a rank, and the next ranks are skipped, as in 1, 2, 2, 4.

    If the scores are a later page of a leaderboard, ``before`` is the number of scores on earlier pages. ``better`` is
    the number of scores on earlier pages that are higher than the first score of this page.

    >>> competition_ranks([0.9, 0.7, 0.7, 0.1])
    [1, 2, 2, 4]
    >>> competition_ranks([0.7, 0.1], better=1, before=2)
    [2, 4]
    >>> competition_ranks([])
    []
    """
    ranks: list[int] = []
    for number, score in enumerate(scores, start=1):
        if number == 1:
            ranks.append(better + 1)
        else:
            ranks.append(ranks[-1] if score == scores[number - 2] else before + number)
    return ranks


def ranks(lines: Sequence[tuple[float, bool]], *, better: int = 0, before: int = 0) -> list[int | None]:
    """Return the rank of each leaderboard entry. Entries are pairs (score, whether it is a baseline), best score first.

    The rank of a baseline (a submission from the organizers) is None. ``better`` and ``before`` count the teams on
    earlier pages, as in :func:`competition_ranks`.

    >>> ranks([(0.9, False), (0.8, True), (0.7, False)])
    [1, None, 2]
    """
    of_teams = competition_ranks([score for score, baseline in lines if not baseline], better=better, before=before)
    left = iter(of_teams)
    return [None if baseline else next(left) for _, baseline in lines]


def fit_rounded(lines: Sequence[tuple[float, bool]], found: Sequence[int | None]) -> bool:
    """Return whether the ranks ``found`` are possible for scores that were rounded after the ranks were computed.

    ``lines`` contains the leaderboard entries with rounded scores, as in :func:`ranks`. Entries with equal rounded
    scores may have the same rank or different ranks, because their exact scores are unknown.

    >>> lines = [(0.9, False), (0.7, False), (0.7, False)]
    >>> fit_rounded(lines, [1, 2, 2]), fit_rounded(lines, [1, 2, 3]), fit_rounded(lines, [1, 1, 3])
    (True, True, False)
    """
    number, before = 0, None
    for (score, baseline), rank in zip(lines, found, strict=True):
        if baseline:
            if rank is not None:
                return False
            continue
        number += 1
        if rank != number and before != (score, rank):
            return False
        before = (score, rank)
    return True
