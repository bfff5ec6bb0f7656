"""What the exit code of ``podium`` says."""

from enum import IntEnum


class Exit(IntEnum):
    """Whose turn it is."""

    DONE = 0
    OUR_FAULT = 1
    SUBMISSION_AT_FAULT = 2
    TRUTH_AT_FAULT = 3
    WRONG_USAGE = 64
    INTERRUPTED = 130
    READER_LEFT = 141
