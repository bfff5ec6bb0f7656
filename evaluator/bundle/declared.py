"""Data classes for the checked content of a bundle. Fields that a server stores have the names of database columns."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from evaluator.catalog import TRACKS, Track


@dataclass(frozen=True, slots=True)
class Baseline:
    """A submission from the organizers, shown on leaderboards without a rank.

    ``line`` is the line number of the baseline's name in challenge.yaml.
    """

    name: str
    file: Path
    line: int


@dataclass(frozen=True, slots=True)
class BundlePhase:
    """A phase in a bundle.

    Attributes
    ----------
    split_seeded : bool
        Whether challenge.yaml has a seed for the random split into public and private images.
    folder : Path
        The folder of the phase in the bundle.
    key : str
        Path of the phase in challenge.yaml, such as ``phases[0]``.
    line, opens_line, closes_line, freeze_line : int
        Line numbers of the phase and its dates in challenge.yaml, for error messages.
    salt : str
        The content of ``salt.txt``, the secret that determines the split and the bootstrap draws.
    """

    slug: str
    title: str
    track: str
    parameters: dict[str, Any]
    public_share: float
    split_seed: int
    split_seeded: bool
    opens_at: datetime | None
    closes_at: datetime | None
    freeze_at: datetime | None
    reveal: str
    quota_per_day: int
    quota_total: int | None
    attempts_per_day: int
    finals: int
    feedback: str
    feedback_decimals: int | None
    feedback_classes: bool
    ladder_standard_errors: float | None
    baselines: tuple[Baseline, ...]
    folder: Path
    key: str
    line: int
    opens_line: int
    closes_line: int
    freeze_line: int
    salt: str = field(default="", repr=False)

    @property
    def declared_track(self) -> Track:
        """The declaration of the track of this phase."""
        return TRACKS[self.track]

    @property
    def truth(self) -> Path:
        """The path of the ground truth folder of this phase."""
        return self.folder / "truth"

    @property
    def usage(self) -> Path | None:
        """The path of the usage file next to the ground truth folder, or None if there is none.

        A usage file assigns images to splits. If it is inside the ground truth folder, it counts as a ground truth file
        instead.
        """
        beside = (self.folder / "usage.csv", self.folder / "usage.csv.gz")
        return next((path for path in beside if path.is_file()), None)

    @property
    def sample(self) -> Path | None:
        """The path of the sample submission of this phase, or None if there is none."""
        path = self.folder / f"sample_submission.{self.declared_track.form.suffix}"
        return path if path.is_file() else None


@dataclass(frozen=True, slots=True)
class Bundle:
    """A challenge with its phases. If `opens_at` is None, the challenge opens when the bundle is imported."""

    slug: str
    title: str
    summary: str
    description: str
    rules: str
    data: str
    visibility: str
    opens_at: datetime | None
    closes_at: datetime | None
    join_until: datetime | None
    registration: str
    allowed_domains: str
    allowed_people: str
    team_max_size: int
    merge_until: datetime | None
    contact: str
    phases: tuple[BundlePhase, ...]
    closes_line: int
