"""Titles of the splits of a phase's images (such as public and private), and the links that switch between them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evaluator.report_page.content import SPLIT_TITLES


@dataclass(frozen=True, slots=True)
class SplitLink:
    """A link to the version of the current page that shows one split, such as public or private."""

    title: str
    query: str
    current: bool


def split_links(splits: Iterable[str], *, current: str, query: Callable[[str], str]) -> list[SplitLink]:
    """Return a link for each of the given splits. The function `query` returns the query string for a split."""
    return [SplitLink(SPLIT_TITLES[split], query(split), split == current) for split in splits]
