"""The exit codes of ``podium``."""

from enum import IntEnum


class Exit(IntEnum):
    """An exit code."""

    DONE = 0
    INTERNAL_ERROR = 1
    INVALID_SUBMISSION = 2
    INVALID_TRUTH = 3
    WRONG_USAGE = 64
    NO_SPACE = 74
    INTERRUPTED = 130
    BROKEN_PIPE = 141
