"""Identifies the state of a file, so that a process does not verify a file again until it changes."""

import os
import time

# A file that was modified within this time is verified again, because file timestamps may not distinguish two
# modifications in quick succession.
SETTLED_NS = 2 * 10**9
Identity = tuple[int, ...]


def identity_of(state: os.stat_result) -> Identity:
    """Return a tuple that identifies the state of a file. Its first value is the later of mtime and ctime."""
    return max(state.st_mtime_ns, state.st_ctime_ns), state.st_dev, state.st_ino, state.st_size


def is_settled(identity: Identity) -> bool:
    """Return whether a file was last modified so long ago that its next modification will change its identity."""
    return time.time_ns() - identity[0] >= SETTLED_NS
