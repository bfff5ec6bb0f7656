"""The in-memory cache returns the stored object itself instead of a copy, and keeps the most recently used objects."""

from server.memory_cache import MemoryCache


def cache_of(location: str) -> MemoryCache:
    return MemoryCache(location, {"OPTIONS": {"MAX_ENTRIES": 2}})


def test_the_object_itself_is_returned_to_every_thread() -> None:
    value = object()
    cache_of("shared").set("key", value)
    assert cache_of("shared").get("key") is value
    assert cache_of("another").get("key", "missing") == "missing"


def test_the_least_recently_used_object_is_removed() -> None:
    cache = cache_of("small")
    for key in ("first", "second"):
        cache.set(key, key)
    cache.get("first")
    cache.set("third", "third")
    assert [cache.get(key) for key in ("first", "second", "third")] == ["first", None, "third"]
