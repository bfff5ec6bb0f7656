"""Simulates hosts: network namespaces with their own host names and disks, connected by a switch.

This requires root and Linux. The kernel removes a namespace and its network interfaces when the last process in it has
ended, so nothing is left behind, even if the tests are killed.
"""

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest
from django.conf import settings

PROGRAMS = ("ip", "nsenter", "unshare", "mount")
# Shell command of the first process in a network namespace. The namespace exists until this process ends, which happens
# when the tests close its input or kill it.
KEEPER = 'hostname "$0" && ip link set lo up && echo ready && read end'
DISK = "size=1g,mode=700"


class Namespace:
    """A network namespace with its own host name and mounts."""

    def __init__(self, name: str) -> None:
        self.name = name
        words = ["unshare", "--net", "--uts", "--mount", "sh", "-c", KEEPER, name]
        self.keeper = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.keeper.stdout is not None
        is_usable = self.keeper.stdout.readline() == "ready\n"
        self.problem = "" if is_usable else self.keeper.communicate()[1].strip()

    @property
    def inside(self) -> tuple[str, ...]:
        """The prefix that makes a command run in this namespace and in the project's folder."""
        target = str(self.keeper.pid)
        return ("nsenter", "--target", target, "--net", "--uts", "--mount", f"--wd={settings.BASE_DIR}", "--")

    def run(self, *words: str) -> None:
        run(*self.inside, *words)

    def close(self) -> None:
        if not self.problem:
            self.keeper.communicate()


class Host(Namespace):
    """A host that is connected to a switch by a cable, and that has its own disk in the folder `home`."""

    def __init__(self, name: str, home: Path) -> None:
        super().__init__(name)
        self.home = home
        home.mkdir()
        self.run("mount", "-t", "tmpfs", "-o", DISK, "disk", str(home))


class Network:
    """A network of simulated hosts. This machine is also connected to it, with the IP address `address`."""

    def __init__(self, stack: ExitStack, switch: Namespace) -> None:
        self.stack, self.switch, self.numbers = stack, switch, count(2)
        self.prefix = f"10.{secrets.randbelow(200) + 20}.{secrets.randbelow(256)}"
        self.address = f"{self.prefix}.1"
        switch.run("ip", "link", "add", "bridge0", "type", "bridge")
        switch.run("ip", "link", "set", "bridge0", "up")
        own = f"pod{secrets.token_hex(4)}"
        run("ip", "link", "add", own, "type", "veth", "peer", "name", "port1", "netns", str(switch.keeper.pid))
        switch.run("ip", "link", "set", "port1", "master", "bridge0", "up")
        run("ip", "address", "add", f"{self.address}/24", "dev", own)
        run("ip", "link", "set", own, "up")

    def add(self, name: str, home: Path) -> Host:
        """Add a host to the network. `home` is the path of its disk, which only this host can see."""
        host = Host(name, home)
        self.stack.callback(host.close)
        number = next(self.numbers)
        port, other = f"port-{name}", str(host.keeper.pid)
        self.switch.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", other)
        self.switch.run("ip", "link", "set", port, "master", "bridge0", "up")
        host.run("ip", "address", "add", f"{self.prefix}.{number}/24", "dev", "eth0")
        host.run("ip", "link", "set", "eth0", "up")
        return host

    def unplug(self, host: Host) -> None:
        """Disconnect a host from the switch. Its TCP connections stay open, but no packets arrive."""
        self.switch.run("ip", "link", "set", f"port-{host.name}", "down")

    def plug_in(self, host: Host) -> None:
        self.switch.run("ip", "link", "set", f"port-{host.name}", "up")


def run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"


@contextmanager
def own_network() -> Iterator[Network]:
    """Create a network without hosts. Without root, the test is skipped; in CI it fails."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        refuse(f"install {', '.join(missing)}" if missing else "run it as root")
    with ExitStack() as stack:
        switch = Namespace("switch")
        stack.callback(switch.close)
        if switch.problem:
            refuse(f"this machine refuses network namespaces: {switch.problem}")
        yield Network(stack, switch)


def refuse(reason: str) -> None:
    why = f"NOT RUN: no network namespaces; {reason}"
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
