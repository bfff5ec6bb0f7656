"""A small challenge bundle that each test can change, and a function that imports it."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from evaluator import __version__
from evaluator.cli import check_bundle
from server.organize import podium
from server.organize.services import importing, truths

SHEET = """\
slug: animals
title: Animals
phases:
  - slug: main
    track: openimages-detection
"""
BOXES = "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\na,/m/cat,0.1,0.5,0.1,0.5,0\nb,/m/dog,0.2,0.6,0.2,0.6,0\n"
LABELS = "ImageID,LabelName,Confidence\na,/m/cat,1\nb,/m/dog,1\n"


class BundleFolder:
    """A folder that contains a challenge bundle, with methods to write and change its files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write("challenge.yaml", SHEET)
        self.write("phases/main/truth/boxes.csv", BOXES)
        self.write("phases/main/truth/image_labels.csv", LABELS)

    def write(self, name: str, content: str | bytes) -> Path:
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def sheet(self, *, challenge: str = "", phase: str = "", text: str = SHEET) -> None:
        """Write challenge.yaml, with additional lines for the challenge and for its only phase."""
        self.write("challenge.yaml", text.replace("phases:", f"{challenge}phases:") + phase)

    def zipped(self, path: Path, *, top: str = "") -> Path:
        with ZipFile(path, "w") as archive:
            for file in sorted(path for path in self.path.rglob("*") if path.is_file()):
                archive.write(file, f"{top}{file.relative_to(self.path).as_posix()}")
        return path


@pytest.fixture
def bundle(tmp_path: Path) -> BundleFolder:
    return BundleFolder(tmp_path / "bundle")


@pytest.fixture
def quick_podium(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Replace the child processes that prepare ground truths and check baselines with fast stubs.

    Return a list of the `podium prepare` commands that would have been run.
    """
    asked: list[tuple[str, ...]] = []

    def answer(*words: str) -> dict[str, Any]:
        if words[0] == "check":
            return {"errors": [], "counts": {}}
        if words[0] == "gate":
            return {"evaluator": __version__, "green": True, "checks": []}
        asked.append(words)
        # Remove the options that take no value, so that each remaining option is followed by its value.
        words = tuple(word for word in words if word not in ("--hidden", "--ceiling"))
        told = dict(zip(words[2::2], words[3::2], strict=True))
        Path(told["--out"]).write_bytes(b"prepared")
        Path(told["--kit"]).write_text("{}")
        Path(told["--statistics"]).write_text("{}")
        Path(told["--sample"]).write_text("ImageId,PredictionString\na,\n")
        files = sorted(Path(told["--truth"]).iterdir()) + [Path(told[name]) for name in told if name == "--usage"]
        digest = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        splits = {"all": 2, "public": 2}
        return {"sha256": digest, "images": 2, "splits": splits, "warnings": [], "warning_counts": {}}

    monkeypatch.setattr(podium, "answer", answer)
    monkeypatch.setattr(truths, "newly_public", lambda *_: 0)
    return asked


@pytest.fixture
def one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands of `podium check-bundle` in the test process, like those of the server."""
    monkeypatch.setattr(check_bundle, "_podium", podium.answer)


@pytest.fixture
def run(
    bundle: BundleFolder, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[..., list[str]]:
    """Return a function that imports the bundle and returns the messages of the import."""

    def run(*, by: Any = None, **more: Any) -> list[str]:
        said: list[str] = []
        with django_capture_on_commit_callbacks(execute=True):
            importing.import_bundle(path=bundle.path, by=by, report=said.append, **more)
        return said

    return run
