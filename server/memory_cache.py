"""A cache that keeps objects in the memory of one process."""

from collections import OrderedDict, defaultdict
from threading import Lock
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache

# The cached objects of each cache, keyed by the location of the cache. All threads of the process share them.
kept: defaultdict[str, OrderedDict[str, Any]] = defaultdict(OrderedDict)
lock = Lock()


class MemoryCache(BaseCache):
    """A cache that keeps the most recently used objects, without a time limit.

    The cache returns the stored object itself, so an object must not be changed once it has been added. Django's own
    memory cache unpickles a new object each time. For the rows of a leaderboard, unpickling takes longer than all
    queries for a page.
    """

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        self.kept = kept[location]

    def get(self, key: str, default: Any = None, version: int | None = None) -> Any:
        with lock:
            if key not in self.kept:
                return default
            self.kept.move_to_end(key)
            return self.kept[key]

    def add(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        """Add an object. If the cache has one with this key, return False and keep it."""
        with lock:
            if key in self.kept:
                return False
            self._store(key, value)
            return True

    def set(self, key: str, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        with lock:
            self._store(key, value)

    def _store(self, key: str, value: Any) -> None:
        self.kept[key] = value
        self.kept.move_to_end(key)
        while len(self.kept) > self._max_entries:
            self.kept.popitem(last=False)

    def clear(self) -> None:
        with lock:
            self.kept.clear()
