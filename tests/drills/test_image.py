"""Builds the Dockerfile without a container engine, and runs the image read-only, as an unprivileged user."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drills.conftest import FAST, Figures
from tests.drills.image.building import Image, build
from tests.drills.image.container import Contained
from tests.drills.image.dockerfile import Stage
from tests.flows.taking_part import open_challenge

ROOT = Path(__file__).parents[2]
TOOLS = ("debootstrap", "unshare", "nsenter", "setpriv")
USER = 10001

Built = tuple[Image, Stage]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """Build the image from a fresh clone of the last commit."""
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"NOT RUN: needs root, and apt-get install debootstrap; missing: {', '.join(missing) or 'root'}")
    folder = tmp_path_factory.mktemp("image")
    folder.parent.chmod(0o755)
    folder.chmod(0o755)  # The service runs as another user, who must be able to open the folders of the image.
    context = folder / "podium"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(context)], check=True)
    yield build(context / "deploy" / "Dockerfile", context, folder)
    shutil.rmtree(folder)


@pytest.fixture
def container(built: Built, tmp_path: Path) -> Iterator[Contained]:
    """Start a container whose volume is a copy of the image's folder `/data`, as with a new Docker volume."""
    image, stage = built
    home = tmp_path / "data"
    subprocess.run(["cp", "-a", str(image.root / "data"), str(home)], check=True)
    found = Contained(image, stage, home, **FAST, WORKER_PROCESSES=1, WEB_PROCESSES=1)
    try:
        yield found.start()
    finally:
        found.stop()


@pytest.mark.drill(34)
def test_the_image_scores_a_submission_without_rights(
    built: Built, container: Contained, small: Path, figures: Figures
) -> None:
    image, _ = built
    assert image.user == "podium"
    status = Path(f"/proc/{container.first}/status").read_text()
    facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert set(facts["Uid"].split()) == set(facts["Gid"].split()) == {str(USER)}
    assert {int(facts[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")} == {0}
    assert facts["NoNewPrivs"] == "1"
    for place in ("/podium", "/podium/build/kernels", "/etc", "/usr", "/"):
        assert "Read-only" in container.execute("touch", f"{place}/file").stderr, place

    shutil.copytree(small, container.home / "bundle")
    shutil.chown(container.home / "bundle", USER, USER)
    open_challenge(container, Path("/data/bundle"), "ada")
    started = time.monotonic()
    ended = container.ended(container.submit((small / "predictions.csv").read_bytes()))
    seconds = time.monotonic() - started
    assert ended["status"] == "scored"
    assert container.execute("pg_dump", "--version").returncode == 0  # `manage.py backup` needs pg_dump.
    size = sum(path.lstat().st_size for path in (image.root / "podium").rglob("*")) / 2**20
    figures(f"healthy, no capabilities, read-only; a submission scored in {seconds:.1f} s; /podium has {size:.0f} MiB")


@pytest.mark.drill(33)
def test_a_stopped_container_ends_and_is_unhealthy_without_its_worker(container: Contained, figures: Figures) -> None:
    assert container.check_health().returncode == 0
    container.signal_all("celery -A worker", signal.SIGSTOP)
    started = time.monotonic()
    while container.check_health().returncode == 0:
        assert time.monotonic() - started < 60
    noticed = time.monotonic() - started
    container.signal_all("celery -A worker", signal.SIGCONT)
    started = time.monotonic()
    container.stop()
    figures(f"unhealthy {noticed:.0f} s after the worker hung; ended {time.monotonic() - started:.1f} s after SIGTERM")
    assert container.process.returncode == 0
