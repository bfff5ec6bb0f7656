"""A process of the service: a child process in its own process group, which is restarted when it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from django.conf import settings

DIE_WITH_PARENT = Path(__file__).with_name("die_with_parent.py")
STABLE_SECONDS = 60.0  # If a process has run for this long before it ends, its earlier crashes are no longer counted.
DELAY_MAX_SECONDS = 30.0
TAIL_BYTES = 2000


@dataclass
class ServiceProcess:
    """A process with its command, its log file, the time that it may take to stop, and the open files it inherits.

    Without a log file, the process writes to the standard output and error of its parent process.
    """

    name: str
    command: Sequence[str]
    log: Path | None
    environment: Mapping[str, str]
    grace_seconds: float = 10.0
    files: tuple[int, ...] = ()
    child: "subprocess.Popen[bytes] | None" = None
    crashes: int = 0
    started_at: float = 0.0
    restart_at: float = 0.0

    def start(self) -> None:
        """Start the process in its own group, so that Ctrl-C in the terminal reaches only the supervisor."""
        command = [sys.executable, "-I", str(DIE_WITH_PARENT), str(os.getpid()), *self.command]
        with ExitStack() as stack:
            log = None
            if self.log is not None:
                # Create the folder of the log file again if an operator has moved it away.
                self.log.parent.mkdir(mode=0o700, exist_ok=True)
                log = stack.enter_context(self.log.open("ab"))
            self.child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=settings.BASE_DIR,
                env=dict(self.environment),
                process_group=0,
                pass_fds=self.files,
            )
        self.started_at = monotonic()

    def keep_running(self) -> str:
        """Restart the process if it has ended, after a delay that grows with each crash.

        Return a message if it has just ended.
        """
        if self.child is not None and self.child.poll() is not None:
            return self._schedule_restart(self.child.returncode)
        if self.child is None and monotonic() >= self.restart_at:
            self.start()
        return ""

    def _schedule_restart(self, returncode: int) -> str:
        self.kill_group()
        self.child = None
        self.crashes = 1 if monotonic() - self.started_at > STABLE_SECONDS else self.crashes + 1
        delay = min(2.0 ** (self.crashes - 1), DELAY_MAX_SECONDS)
        self.restart_at = monotonic() + delay
        how = f"signal {-returncode}" if returncode < 0 else f"exit {returncode}"
        where = f". Its log is {self.log}" if self.log else ""
        return f"ended ({how}) and will be restarted in {delay:g} s{where}"

    def stop(self) -> None:
        """Ask the process to stop, and wait for it. Then kill the process and its children if any are still running."""
        if self.child is None:
            return
        if self.child.poll() is None:
            self.child.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.child.wait(self.grace_seconds)
        self.kill_group()
        self.child.wait()
        self.child = None

    def kill_group(self) -> None:
        if self.child is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.child.pid, signal.SIGKILL)

    def log_tail(self) -> str:
        """Return the end of the log file, or an empty string if there is none."""
        if self.log is None:
            return ""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - TAIL_BYTES))
            return log.read().decode(errors="replace").strip()

    @property
    def last_words(self) -> str:
        """A sentence with the end of the log file, or an empty string if there is none."""
        return f" The last lines of its log {self.log}:\n{self.log_tail()}" if self.log else ""
