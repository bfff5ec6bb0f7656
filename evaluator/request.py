"""Defines a scoring request: the submission, the ground truth, the contents of the report, and the resources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evaluator.catalog import Limits
from evaluator.problems import Findings, InvalidParameters, InvalidSubmission, Problem

Progress = Callable[[str, float], None]
"""A callback whose arguments are the name of the current stage and the completed fraction of this stage.

The stages are ``checking``, ``matching``, ``scoring`` and ``bootstrapping``. While the rows of matches are read, the
stage is ``writing``. If the kernels (numba functions) have not been compiled on this machine yet, there is also the
stage ``compiling``.
"""


def silent(stage: str, fraction: float) -> None:
    """Do nothing. This function is the default progress callback."""


@dataclass(frozen=True, slots=True)
class TruthOptions:
    """The options for opening a ground truth.

    Attributes
    ----------
    usage : Path or None
        A file to use instead of the ``usage.csv`` in the folder. It may be gzipped.
    split : (float, int) or None
        Fraction of public images and the seed, instead of a usage file. The seed is not used if the ground truth has a
        salt, a secret from which the split is derived instead.
    salt : Path or None
        A file to use instead of the ``salt.txt`` in the folder. A prepared ground truth contains the salt, so
        the prepared file must be kept secret too.
    hidden : bool
        Whether to reject a folder if data that participants can see reveals answers. Answers are revealed by caption
        ids that contain the id of their image, and by segmentation data without the sizes of all images.
    verify : bool
        Whether to verify the checksums of all arrays of a prepared ground truth when it is opened; see
        :meth:`Truth.load`.
    expected : str
        The SHA-256 hash that a prepared ground truth must have; if empty, any hash is accepted.
    """

    usage: Path | None = None
    split: tuple[float, int] | None = None
    salt: Path | None = None
    hidden: bool = False
    verify: bool = False
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The options for drawing bootstrap replicates.

    Attributes
    ----------
    replicates : int
        Number of replicates, at least 1.
    seed : int
        The seed of the draws, at least 0. Submissions that are scored with the same seed share their draws.
    draws : Path or None
        Folder in which the image weights are stored for later submissions with the same ground truth. A split needs 1
        byte per image and replicate. If None, the same weights are drawn in memory.

    Raises
    ------
    InvalidParameters
    """

    replicates: int
    seed: int = 0
    draws: Path | None = None

    def __post_init__(self) -> None:
        """Raise InvalidParameters if the seed is negative or the number of replicates is not positive."""
        if self.replicates < 1 or self.seed < 0:
            raise InvalidParameters(
                "bootstrap must be a whole number of at least 1, and its seed a whole number of at least 0"
            )


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The optional contents of a report. The scores are always included.

    Attributes
    ----------
    curves : bool
        Whether to include precision/recall curves.
    explanation : bool
        Whether to include tables of errors and other tables that explain the score.
    matches : bool
        Whether to include the outcome of each prediction. The tables of an explanation are included too.
    bootstrap : Bootstrap or None
        If given, 95% confidence intervals are computed from bootstrap replicates with these options.
    """

    curves: bool = False
    explanation: bool = False
    matches: bool = False
    bootstrap: Bootstrap | None = None

    @property
    def explains(self) -> bool:
        """Whether the report contains any part of an explanation."""
        return self.explanation or self.matches

    @property
    def needs_images(self) -> bool:
        """Whether the scorer must remember which image each prediction belongs to.

        Precision/recall curves and bootstrap replicates are computed from this information.
        """
        return self.curves or self.bootstrap is not None


@dataclass(frozen=True, slots=True)
class Resources:
    """The limits and resources that apply when a submission is scored.

    Attributes
    ----------
    limits : Limits
        Limits of the submitted file.
    threads : int
        Number of threads to use. It does not affect the report.
    progress : callable
        Called with the name of the current stage, such as ``scoring``, and the completed fraction of this stage.
    reference_bytes : int or None
        Maximum uncompressed size of a file that compiled kernels cannot read. The much slower reference implementation
        scores these files. The maximum does not apply to tracks without compiled kernels. If None, only ``limits``
        apply.
    temporary_folder : Path or None
        Folder for temporary files, such as the run lengths of many masks; None for the system's folder.
    """

    limits: Limits = field(default_factory=Limits)
    threads: int = 1
    progress: Progress = silent
    reference_bytes: int | None = None
    temporary_folder: Path | None = None

    def for_reference(self, submission: Path, findings: Findings) -> "Resources":
        """Return the resources for a file that the compiled kernels cannot read.

        The uncompressed size of the file is limited to at most ``reference_bytes``, unless this number is None.

        Raises
        ------
        InvalidSubmission
            If the file itself, before decompression, is larger than ``reference_bytes``.
        """
        if (most := self.reference_bytes) is None:
            return self
        if submission.stat().st_size > most:
            findings.add(Problem("too_large", f"the file has more than {most:,} bytes"))
            raise InvalidSubmission(findings)
        return replace(self, limits=replace(self.limits, decompressed_bytes=min(self.limits.decompressed_bytes, most)))


@dataclass(frozen=True, slots=True)
class ScoringRequest:
    """A request to score a submission.

    Attributes
    ----------
    track : str
        Name of the track, such as ``openimages-detection``.
    truth : Path
        A ground truth folder, or a file written by :func:`evaluator.scoring.prepare`.
    submission : Path
        A file in any layout that the track declares, gzipped or not.
    parameters : mapping
        The parameters that differ from the defaults of the track.
    opening : TruthOptions
    report : ReportOptions
    resources : Resources
    rejects_nothing_to_score : bool
        Whether to reject a file in which no prediction can increase the score. If false, a notice is added instead.
    """

    track: str
    truth: Path
    submission: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    opening: TruthOptions = field(default_factory=TruthOptions)
    report: ReportOptions = field(default_factory=ReportOptions)
    resources: Resources = field(default_factory=Resources)
    rejects_nothing_to_score: bool = False
