"""The checked content of a bundle. Fields are named after the database columns that an import writes."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from evaluator.catalog import TRACKS, Track


@dataclass(frozen=True, slots=True)
class Baseline:
    """A submission by the organizers, which leaderboards show without a rank. ``line`` is the line of its name."""

    name: str
    file: Path
    line: int


@dataclass(frozen=True, slots=True)
class BundlePhase:
    """A phase in a bundle.

    Attributes
    ----------
    split_seeded : bool
        Whether challenge.yaml has a seed for the split.
    folder : Path
        The folder of the phase in the bundle.
    key : str
        Path of the phase in challenge.yaml, such as ``phases[0]``.
    line, opens_line, closes_line : int
        Lines in challenge.yaml, for errors that are found later.
    salt : str
        The content of ``salt.txt``.
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
    salt: str = field(default="", repr=False)

    @property
    def declared_track(self) -> Track:
        """The declaration of the track."""
        return TRACKS[self.track]

    @property
    def truth(self) -> Path:
        """The truth folder."""
        return self.folder / "truth"

    @property
    def usage(self) -> Path | None:
        """The file next to the truth folder that assigns images to splits, if any.

        A usage file inside the truth folder counts as a truth file instead.
        """
        beside = (self.folder / "usage.csv", self.folder / "usage.csv.gz")
        return next((path for path in beside if path.is_file()), None)

    @property
    def sample(self) -> Path | None:
        """The sample submission, if any."""
        path = self.folder / f"sample_submission.{self.declared_track.form.suffix}"
        return path if path.is_file() else None


@dataclass(frozen=True, slots=True)
class Bundle:
    """A challenge with its phases. If `opens_at` is None, the challenge opens when it is imported."""

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
    team_max_size: int
    merge_until: datetime | None
    contact: str
    phases: tuple[BundlePhase, ...]
    closes_line: int
