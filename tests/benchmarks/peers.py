"""Runs programs that use other packages from PyPI, each in an environment of its own."""

import subprocess
import venv
from pathlib import Path

from tests.benchmarks.rows import FOLDER

PROGRAMS = Path(__file__).parent


class PeerFailed(Exception):
    """Raised if a package cannot be installed, or if the program that uses it fails. The message states the reason."""


def cpu_of_peer(package: str, program: str, *arguments: Path, seconds: float) -> float:
    """Run a program of this folder that uses a package from PyPI, and return the CPU time that it prints.

    Raises PeerFailed if the package cannot be installed, or if the program fails or takes longer than `seconds`.
    """
    words = [installed(package), PROGRAMS / program, *arguments]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise PeerFailed(f"not done after {seconds:g} s") from None
    if done.returncode:
        raise PeerFailed((done.stderr.strip().splitlines() or ["failed"])[-1][:80])
    return float(done.stdout.split()[-1])


def installed(package: str) -> Path:
    """Install a package in its own environment, and return the path of the Python interpreter there."""
    folder = FOLDER / package
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "-q", package, "numpy"], capture_output=True).returncode:
        raise PeerFailed(f"{package} cannot be installed")
    return python
