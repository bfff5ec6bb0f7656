"""One part of the service: a child process in a group of its own, started again when it dies, stopped for good."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from django.conf import settings

TETHER = Path(__file__).with_name("tether.py")
STEADY_SECONDS = 60.0  # whoever lived that long starts again without delay
DELAY_MAX_SECONDS = 30.0
TAIL_BYTES = 2000


@dataclass
class Part:
    """What runs, where it writes, and how long it may take to stop."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    grace_seconds: float = 10.0
    process: "subprocess.Popen[bytes] | None" = None
    deaths: int = 0
    started_at: float = 0.0
    again_at: float = 0.0

    def start(self) -> None:
        """Start it in its own process group: a Ctrl-C in the terminal reaches the supervisor alone."""
        tethered = [sys.executable, "-I", str(TETHER), str(os.getpid()), *self.command]
        self.log.parent.mkdir(mode=0o700, exist_ok=True)  # an operator may have moved the folder meanwhile
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                tethered,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=settings.BASE_DIR,
                env=dict(self.environment),
                process_group=0,
            )
        self.started_at = monotonic()

    def tend(self) -> str:
        """Start it again if it died, later each time; return what there is to say about it."""
        if self.process is not None and self.process.poll() is not None:
            return self._mourn(self.process.returncode)
        if self.process is None and monotonic() >= self.again_at:
            self.start()
        return ""

    def _mourn(self, returncode: int) -> str:
        self.kill_group()
        self.process = None
        self.deaths = 1 if monotonic() - self.started_at > STEADY_SECONDS else self.deaths + 1
        delay = min(2.0 ** (self.deaths - 1), DELAY_MAX_SECONDS)
        self.again_at = monotonic() + delay
        how = f"signal {-returncode}" if returncode < 0 else f"exit {returncode}"
        return f"ended ({how}); it is started again in {delay:g} s. Its last words are in {self.log}"

    def stop(self) -> None:
        """Ask it to stop, wait, insist; then see to it that none of its own children is left."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(self.grace_seconds)
        self.kill_group()
        self.process.wait()
        self.process = None

    def kill_group(self) -> None:
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """Return the end of its log."""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - TAIL_BYTES))
            return log.read().decode(errors="replace").strip()
