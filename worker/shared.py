"""What all processes of one worker share, and no other process: made before the pool is forked."""

import mmap
from tempfile import TemporaryFile

# Each byte is a place, locked by one process; the kernel gives the lock back however that process ends
PLACES = TemporaryFile(buffering=0)  # noqa: SIM115 - open as long as the process lives
# One byte: whether the stored files cannot be read here
AWAY = mmap.mmap(-1, 1)
