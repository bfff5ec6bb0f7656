"""Uploads a thousand damaged files, each of which must be scored or rejected."""

from collections import Counter

import pytest

from tests.conftest import InlineQueue, Make
from tests.fuzz.uploads import Site

SHARES, SHARE = 4, 250


@pytest.mark.parametrize("share", range(SHARES))
def test_every_damaged_upload_is_scored_or_rejected(make: Make, inline_queue: InlineQueue, share: int) -> None:
    site, counts = Site(make), Counter[str]()
    for seed in range(share * SHARE, (share + 1) * SHARE):
        more, failures = site.answers(seed)
        assert not failures
        counts += more
    assert counts["scored"] > SHARE / 10
    assert counts["rejected"] > SHARE / 10
