"""Runs an image as a container engine would: in namespaces, on a read-only file system, without root privileges."""

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.drills.image.building import Image
from tests.drills.image.dockerfile import Stage
from tests.flows.running import ENOUGH_SECONDS, Running, wait_for

# In the container, everything is read-only except for /data and the file systems that a container engine mounts: /tmp,
# /proc and /dev.
MOUNTS = """
set -e
mount --bind . .
mount -o remount,ro,bind "$PWD"
cd "$PWD"
mount -t proc proc proc
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for one in null zero full random urandom tty; do touch dev/$one; mount --bind /dev/$one dev/$one; done
mkdir dev/shm
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount --bind "$DATA" data
exec chroot . "$@"
"""
WITHOUT_RIGHTS = ("--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all")


class Contained(Running):
    """A service that runs in an image. Its PODIUM_HOME is `home`, which the container sees as /data."""

    def __init__(self, image: Image, stage: Stage, home: Path, **settings_of_it: Any) -> None:
        super().__init__(home)
        self.image, self.stage = image, stage
        given = {name: str(value) for name, value in settings_of_it.items()}
        self.environment = {**image.environment, "HOME": "/data", "PODIUM_PORT": str(self.port), **given}

    def as_its_user(self, *words: str) -> list[str]:
        """Return a command that runs `words` as the image's user, with only the container's environment variables."""
        user = self.image.user
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        rights = ["setpriv", f"--reuid={user}", f"--regid={user}", *WITHOUT_RIGHTS]
        return [*rights, "env", "-i", "-C", self.image.folder, *variables, *words]

    def popen(self, *words: str, **options: Any) -> "subprocess.Popen[bytes]":
        """Start the container with the ENTRYPOINT of the image. Unlike in the base class, `words` is ignored."""
        inside = self.as_its_user(*json.loads(self.stage.last("ENTRYPOINT")))
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", MOUNTS, "sh", *inside]
        return subprocess.Popen(command, cwd=self.image.root, env={**os.environ, "DATA": str(self.home)}, **options)

    @property
    def first(self) -> int:
        """The process id of the container's first process, as seen from outside the container."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return self.execute("env", "DJANGO_SETTINGS_MODULE=server.settings", "python", *words)

    def owns(self, process: Path) -> bool:
        """Return whether a process is in the container."""
        with suppress(OSError):
            return (process / "ns" / "pid").readlink() == Path(f"/proc/{self.first}/ns/pid").readlink()
        return False

    def execute(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command in the running container, as the container's user."""
        where = ["nsenter", "--target", str(self.first), "--mount", "--pid", "--root"]
        return subprocess.run([*where, *self.as_its_user(*words)], capture_output=True, text=True, env={})

    def check_health(self) -> "subprocess.CompletedProcess[str]":
        """Run the HEALTHCHECK command of the image in the container."""
        _, _, command = self.stage.last("HEALTHCHECK").partition("CMD ")
        return self.execute(*json.loads(command))

    def stop(self) -> None:
        """Stop the container as a container engine would: with SIGTERM, or with SIGKILL if it does not end in time."""
        if self.process.poll() is None:
            first = self.first
            os.kill(first, signal.SIGTERM)
            try:
                self.process.wait(ENOUGH_SECONDS)
            except subprocess.TimeoutExpired:
                os.kill(first, signal.SIGKILL)
                self.process.wait(ENOUGH_SECONDS)

    def start(self, *, migrated: bool = False) -> "Contained":
        """Start the container and wait until its HEALTHCHECK succeeds. The container's user creates the database."""
        super().start(migrated=migrated)
        wait_for(lambda: self.check_health().returncode == 0)
        return self
