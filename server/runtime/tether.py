"""Runs a program that ends when its parent ends, however that happens: `python tether.py PARENT PROGRAM …`.

Standard library only and no import of ours: it stands before every start of a part.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>; survives exec, not fork


def end_with(parent: int) -> None:
    """Have the kernel kill this process when its parent is gone; at once, if it is gone already."""
    if sys.platform == "linux" and ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        raise OSError("prctl(PR_SET_PDEATHSIG) was refused")
    if os.getppid() != parent:
        sys.exit("the process that started this one is gone")


if __name__ == "__main__":
    end_with(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
