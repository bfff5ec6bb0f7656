"""The interface between scoring and the tracks: the protocols that a track implements.

Every track has a :class:`Scorer` and a :class:`TruthCompiler`, which may be the same object. The other protocols are
optional. :mod:`evaluator.tracks` loads the implementations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
from evaluator.request import Progress, ScoringRequest
from evaluator.truth import Truth

Splits = dict[str, SplitReport]
TruthType = TypeVar("TruthType", bound=Truth)
ParametersType = TypeVar("ParametersType")
SubmissionType = TypeVar("SubmissionType")
TruthType_contra = TypeVar("TruthType_contra", bound=Truth, contravariant=True)
ParametersType_contra = TypeVar("ParametersType_contra", contravariant=True)
SubmissionType_contra = TypeVar("SubmissionType_contra", contravariant=True)


class Engine(Protocol):
    """The two functions that all metrics use, with kernels or numpy; see :mod:`evaluator.metrics.bootstrap`."""

    def sums(self, weights: Weights, groups: ImageGroups) -> Numbers:
        """Return the sum of the weights of the images of each group, shape (groups, replicates)."""

    def average_precisions(
        self, weights: Weights, steps: CurveSteps, positives: Numbers, partial_weight: float
    ) -> Numbers:
        """Return the area under each curve, shape (curves, replicates)."""


class Statistics(Protocol):
    """Per-image statistics, from which the metrics of one split are computed for any weights of the images."""

    def metrics(self, weights: Weights, engine: Engine) -> Mapping[str, Numbers]:
        """Return every metric of the track for the given weights of the images.

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
        Takes the row of each image in the weights of a split, and returns the statistics of the split. None if images
        were not kept, or if the track has no intervals.
    curves : callable or None
        Returns the precision/recall curves of a split; None if images were not kept, or if the track has no curves.
    matches : MatchTable or None
        The outcome of each prediction; None without an explanation.
    trials : callable or None
        Returns the image of each trial of a metric that is declared as a share, int array of shape (trials,); None if
        the track declares no share.
    """

    splits: Splits
    statistics: Callable[[ImageRows], Statistics] | None = None
    curves: Callable[[str], list[CurveRow]] | None = None
    matches: MatchTable | None = None
    trials: Callable[[str], NDArray[np.integer[Any]]] | None = None


class Scorer(Protocol[TruthType, ParametersType, SubmissionType]):
    """The reference implementation of a track: an object without state that scores any number of submissions.

    The three type parameters are the types of the track's truth, of its parameters and of its parsed submissions.

    Attributes
    ----------
    track : Track
        The declaration of the track in the catalogue.
    """

    track: Track

    def truth_of(self, prepared: Truth) -> TruthType:
        """Return a truth as the type of this track, without reading its arrays."""

    def parameters_of(self, resolved: Mapping[str, Any]) -> ParametersType:
        """Return the parameters, which are complete and checked, as the type of this track."""

    def read(self, source: Source, truth: TruthType | None, parameters: ParametersType) -> SubmissionType:
        """Read a submission. The result must not be used if the source's findings contain a defect.

        Without a truth, only the file format is checked.
        """

    def evaluate(
        self, truth: TruthType, submission: SubmissionType, parameters: ParametersType, progress: Progress
    ) -> Outcome:
        """Score a submission that was read, on every split."""

    def template(self, truth: TruthType) -> str:
        """Return the text of a template submission: every image, and no predictions."""

    def ceiling(self, truth: TruthType, parameters: ParametersType) -> str:
        """Return the text of the best possible submission: the truth itself."""


@runtime_checkable
class GivesCandidates(Protocol[TruthType_contra]):
    """A scorer of a track that declares ``gives_candidates``."""

    def candidates(self, truth: TruthType_contra) -> str:
        """Return the text of a file with everything that a submission may choose from, in shuffled order."""


class TruthCompiler(Protocol[ParametersType_contra]):
    """Compiles truth folders: the scorer itself, or a module that is loaded only if a folder is compiled."""

    def compile_truth(self, folder: TruthFolder, parameters: ParametersType_contra) -> Truth:
        """Check a truth folder, and return its content as a truth.

        Raises
        ------
        InvalidTruth
        """


class FastPath(Protocol[TruthType_contra, ParametersType_contra]):
    """A module that scores by kernels, with the same outcome as the scorer to the last bit.

    It is loaded only when it is needed, because loading machine code takes longer than scoring a small file.
    """

    def score(
        self, truth: TruthType_contra, request: ScoringRequest, parameters: ParametersType_contra, findings: Findings
    ) -> Outcome | ReferenceNeeded:
        """Score a submission on every split, or return why the reference implementation is needed."""


class Explainer(Protocol[TruthType_contra, ParametersType_contra, SubmissionType_contra]):
    """A module that explains scores. It is loaded only if an explanation is requested."""

    def explain(
        self,
        truth: TruthType_contra,
        submission: SubmissionType_contra,
        parameters: ParametersType_contra,
        progress: Progress,
    ) -> Outcome:
        """Score a submission as the scorer does, and return the outcome with an explanation and ``matches``."""
