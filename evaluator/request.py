"""The request to score a submission: the submission, the ground truth, and the contents of the report."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.catalog import Limits
from evaluator.problems import InvalidParameters

Progress = Callable[[str, float], None]
"""Called with the stage (``checking``, ``matching``, ``scoring``, ``bootstrapping``; ``compiling`` once on a machine
where the kernels are not compiled yet) and the fraction of it that is done."""


def silent(stage: str, fraction: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class TruthOptions:
    """How a ground truth is opened.

    Attributes
    ----------
    usage : Path or None
        A ``usage.csv`` to use instead of the one in the folder.
    split : (float, int) or None
        Share of public images and seed, instead of a usage file. The seed is not used if the truth has a salt.
    salt : Path or None
        A ``salt.txt`` to use instead of the one in the folder. A prepared truth contains it and must be kept secret
        too.
    hidden : bool
        Whether a folder that reveals answers to participants is rejected. Caption ids that contain the id of their
        image reveal answers, and so does segmentation without the sizes of all images.
    verify : bool
        Whether all of a prepared truth is compared with its checksums when it is opened; see :meth:`Truth.load`.
    expected : str
        The sha256 that a prepared truth must have; if empty, any sha256 is accepted.
    """

    usage: Path | None = None
    split: tuple[float, int] | None = None
    salt: Path | None = None
    hidden: bool = False
    verify: bool = False
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """How replicates are drawn.

    Attributes
    ----------
    replicates : int
        Number of replicates, at least 1.
    seed : int
        At least 0. Submissions that are scored with the same seed share their draws.
    draws : Path or None
        Folder where the drawn weights are stored for further submissions to the same truth: 1 byte for each image and
        replicate of each split. Without a folder, the same weights are drawn in memory.

    Raises
    ------
    InvalidParameters
    """

    replicates: int
    seed: int = 0
    draws: Path | None = None

    def __post_init__(self) -> None:
        """Raise an exception if a number is too small."""
        if self.replicates < 1 or self.seed < 0:
            raise InvalidParameters(
                "bootstrap must be a whole number of at least 1, and its seed a whole number of at least 0"
            )


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report contains in addition to the scores.

    Attributes
    ----------
    curves : bool
        Whether to include precision/recall curves.
    explanation : bool
        Whether to include tables of errors and the outcome of each prediction. Only the reference implementation can do
        this.
    bootstrap : Bootstrap or None
        If given, 95% intervals are computed from these replicates.
    """

    curves: bool = False
    explanation: bool = False
    bootstrap: Bootstrap | None = None

    @property
    def needs_images(self) -> bool:
        """Whether the scorer must keep the image of each prediction."""
        return self.curves or self.bootstrap is not None


@dataclass(frozen=True, slots=True)
class Resources:
    """The limits and resources of a scoring.

    Attributes
    ----------
    limits : Limits
        Limits of the submitted file.
    threads : int
        Number of cores to use. Any number gives the same report to the last bit.
    progress : callable
    """

    limits: Limits = field(default_factory=Limits)
    threads: int = 1
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class ScoringRequest:
    """A submission to score.

    Attributes
    ----------
    track : str
        Name of the track, such as ``openimages-detection``.
    truth : Path
        A truth folder, or the file that :func:`evaluator.scoring.prepare` made from it.
    submission : Path
        In any shape that the track declares, gzipped or not.
    parameters : mapping
        The parameters that differ from the defaults of the track.
    opening : TruthOptions
    report : ReportOptions
    resources : Resources
    """

    track: str
    truth: Path
    submission: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    opening: TruthOptions = field(default_factory=TruthOptions)
    report: ReportOptions = field(default_factory=ReportOptions)
    resources: Resources = field(default_factory=Resources)
