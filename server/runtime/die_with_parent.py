"""Runs a program that ends when its parent process ends for any reason: `python die_with_parent.py PARENT PROGRAM …`.

Every process of the service is started by this script. To start quickly, it imports only the standard library.
"""

import ctypes
import os
import signal
import sys

# Number of the prctl option (from <linux/prctl.h>) that sets the signal which a process receives when its parent ends.
# The option stays set after exec, but not after fork.
PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends. Exit immediately if the parent has already ended."""
    if sys.platform == "linux" and ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        raise OSError("prctl(PR_SET_PDEATHSIG) was refused")
    if os.getppid() != parent:
        sys.exit("the process that started this one has ended")


if __name__ == "__main__":
    die_with(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
