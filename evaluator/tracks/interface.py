"""The interface between scoring and the tracks, defined by the protocols that a track implements.

Every track has a :class:`Scorer` and a :class:`TruthCompiler`, which may be the same object. The other protocols are
optional. :mod:`evaluator.tracks` loads the implementations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import Track
from evaluator.files.folder import TruthFolder
from evaluator.files.source import Source
from evaluator.metrics.bootstrap import Numbers, Weights
from evaluator.metrics.resampling import CurveSteps, ImageGroups, ImageRows
from evaluator.problems import Findings
from evaluator.report import CurveRow, MatchTable, ReferenceNeeded, SplitReport
from evaluator.request import Progress, Resources, ScoringRequest
from evaluator.truth import Truth
from evaluator.truth_statistics import Statistics as TruthStatistics

Splits = dict[str, SplitReport]
TruthType = TypeVar("TruthType", bound=Truth)
ParametersType = TypeVar("ParametersType")
SubmissionType = TypeVar("SubmissionType")
TruthType_contra = TypeVar("TruthType_contra", bound=Truth, contravariant=True)
ParametersType_contra = TypeVar("ParametersType_contra", contravariant=True)
SubmissionType_contra = TypeVar("SubmissionType_contra", contravariant=True)


class Engine(Protocol):
    """The functions ``sums`` and ``average_precisions``, used to compute metrics for all bootstrap replicates.

    Every track uses them. There are two implementations: compiled kernels, and the reference implementation in
    :mod:`evaluator.metrics.bootstrap`, which uses numpy.
    """

    def sums(self, weights: Weights, groups: ImageGroups) -> Numbers:
        """Return the total image weight of each group of images, shape (groups, replicates)."""

    def average_precisions(
        self, weights: Weights, steps: CurveSteps, positives: Numbers, partial_weight: float
    ) -> Numbers:
        """Return the area under each precision/recall curve in each bootstrap replicate, shape (curves, replicates)."""


class Statistics(Protocol):
    """Per-image statistics, from which the metrics of a split are computed for any image weights."""

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return every metric of the track for the given image weights.

        Parameters
        ----------
        weights : uint8 array of shape (images of the split, replicates)
        engine : Engine

        Returns
        -------
        mapping of str to float64 array of shape (replicates,), NaN where undefined
        """


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of scoring a submission.

    Attributes
    ----------
    splits : mapping of str to SplitReport
    statistics : callable or None
        A function that returns the statistics of a split. The argument maps each image to its row in the matrix of the
        split's image weights. None if the image of each prediction was not kept, or if the track has no intervals.
    curves : callable or None
        A function that takes the name of a split and returns its precision/recall curves. None if the image of each
        prediction was not kept, or if the track has no curves.
    matches : MatchTable or None
        The outcome of each prediction. None if no explanation was requested.
    trials : callable or None
        A function that takes the name of a metric declared as a proportion (hits / trials), and returns the image of
        each trial as an int array of shape (trials,). None if the track declares no proportion.
    highest : mapping of str to float
        The largest possible value of a metric, if it is not 1.
    """

    splits: Splits
    statistics: Callable[[ImageRows], Statistics] | None = None
    curves: Callable[[str], list[CurveRow]] | None = None
    matches: MatchTable | None = None
    trials: Callable[[str], NDArray[np.integer[Any]]] | None = None
    highest: Mapping[str, float] = field(default_factory=dict)


class Scorer(Protocol[TruthType, ParametersType, SubmissionType]):
    """The reference implementation of a track: a stateless object that can score any number of submissions.

    The three type parameters are the track's types for ground truths, parameters and parsed submissions.

    Attributes
    ----------
    track : Track
        The declaration of the track in the catalogue.
    """

    track: Track

    def truth_of(self, prepared: Truth) -> TruthType:
        """Return a ground truth as an instance of this track's ground truth class, without reading its arrays."""

    def parameters_of(self, resolved: Mapping[str, Any]) -> ParametersType:
        """Return the parameters, which are complete and checked, as an instance of this track's parameter class."""

    def read(self, source: Source, truth: TruthType | None, parameters: ParametersType) -> SubmissionType:
        """Read a submission. The result must not be used if the findings of ``source`` contain a defect.

        Without a ground truth, only the file format is checked.
        """

    def evaluate(
        self, truth: TruthType, submission: SubmissionType, parameters: ParametersType, progress: Progress
    ) -> Outcome:
        """Score a parsed submission on every split."""

    def template(self, truth: TruthType) -> str:
        """Return the content of a template submission, which contains every image and no predictions."""

    def ceiling(self, truth: TruthType, parameters: ParametersType) -> str:
        """Return the content of the best possible submission, which predicts exactly the ground truth."""


@runtime_checkable
class GivesCandidates(Protocol[TruthType_contra]):
    """The interface of a scorer whose track gives participants a list of all possible answers."""

    def candidates(self, truth: TruthType_contra) -> str:
        """Return the list of candidates as a string: all possible answers, in shuffled order."""


class TruthCompiler(Protocol[ParametersType_contra]):
    """The interface for compiling ground truth folders, implemented by a scorer or by a module imported when needed."""

    def compile_truth(self, folder: TruthFolder, parameters: ParametersType_contra) -> Truth:
        """Check a ground truth folder, and return its content as a ground truth.

        Raises
        ------
        InvalidTruth
            If the ground truth folder has faults.
        """


class FastPath(Protocol[TruthType_contra, ParametersType_contra]):
    """A module that scores with kernels. Its outcome is bit-identical to that of the scorer.

    The module is imported only when it is needed, because loading machine code takes longer than scoring a small file.
    """

    def score(
        self, truth: TruthType_contra, request: ScoringRequest, parameters: ParametersType_contra, findings: Findings
    ) -> Outcome | ReferenceNeeded:
        """Score a submission on every split, or return the reason why the reference implementation is needed."""

    def check(
        self,
        truth: TruthType_contra,
        submission: Path,
        parameters: ParametersType_contra,
        resources: Resources,
        findings: Findings,
    ) -> ReferenceNeeded | None:
        """Read a submission without scoring it, and add notices about it to ``findings``.

        Return None if the file has no defect; otherwise, return the reason why the reference implementation must check
        the file. Only the public parts of the ground truth are used. Therefore, ``truth`` may come from a check kit,
        the file that participants use to check submissions offline.
        """


class Explainer(Protocol[TruthType_contra, ParametersType_contra, SubmissionType_contra]):
    """A module that explains scores. The module is imported only if an explanation is requested."""

    def explain(
        self,
        truth: TruthType_contra,
        submission: SubmissionType_contra,
        parameters: ParametersType_contra,
        progress: Progress,
    ) -> Outcome:
        """Return the same outcome as the scorer, with tables that explain the score and with ``matches`` added."""


class TruthDescriber(Protocol[TruthType_contra]):
    """A module that computes statistics of a ground truth. Only organizers see these statistics."""

    def describe(self, truth: TruthType_contra, statistics: TruthStatistics) -> None:
        """Add counts, histograms and rankings that describe the ground truth to ``statistics``."""
