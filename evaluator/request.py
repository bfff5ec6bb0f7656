"""What a scoring is asked for: a submission, a ground truth, and what the report must contain."""

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
        A ``usage.csv`` that replaces the folder's.
    split : (float, int) or None
        Share of public images and seed, instead of a usage file. The seed is not used if the truth has a salt.
    salt : Path or None
        A ``salt.txt`` that replaces the folder's. A prepared truth contains it and must be kept as secret.
    hidden : bool
        Whether a folder that reveals answers to participants is refused: caption ids that name their image, and
        segmentation without the sizes of all images.
    verify : bool
        Whether all of a prepared truth is compared with its checksums when it is opened; see :meth:`Truth.load`.
    expected : str
        The sha256 that a prepared truth must have; any if empty.
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
        Their number, from 1.
    seed : int
        From 0. Submissions that are scored with the same seed share their draws.
    draws : Path or None
        Folder where the drawn weights are kept for other submissions against the same truth: 1 byte for each image and
        replicate of each split. Without it the same weights are drawn in memory.

    Raises
    ------
    InvalidParameters
    """

    replicates: int
    seed: int = 0
    draws: Path | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that are too small."""
        if self.replicates < 1 or self.seed < 0:
            raise InvalidParameters("bootstrap is a whole number from 1, its seed one from 0")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """What a report contains in addition to the scores.

    Attributes
    ----------
    curves : bool
        Precision/recall curves.
    explanation : bool
        Tables of errors, and the outcome of each prediction. The reference implementation makes them.
    bootstrap : Bootstrap or None
        95% intervals, computed from these replicates.
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
    """What a scoring may use.

    Attributes
    ----------
    limits : Limits
        What the submission may contain.
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
        A truth folder, or the file that :func:`evaluator.scoring.prepare` made of it.
    submission : Path
        In any shape that the track declares, gzipped or not.
    parameters : mapping
        Those that differ from the defaults of the track.
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
