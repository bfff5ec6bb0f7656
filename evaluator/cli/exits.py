"""Defines the exit codes of ``podium`` commands."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit code of a ``podium`` command. 0 means success."""

    DONE = 0
    INTERNAL_ERROR = 1
    INVALID_SUBMISSION = 2
    INVALID_TRUTH = 3
    REFUSED = 4
    SCORING_FAILED = 5
    INVALID_RESULTS = 6
    OTHER_KEY = 7
    WRONG_USAGE = 64
    NO_SPACE = 74
    TRY_AGAIN_LATER = 75
    INTERRUPTED = 130
    BROKEN_PIPE = 141
