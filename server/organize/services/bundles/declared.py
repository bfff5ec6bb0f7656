"""The checked content of a bundle. Fields have the names of the database columns that an import writes."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from evaluator.catalog import TRACKS, Track


@dataclass(frozen=True, slots=True)
class Baseline:
    """A submission of the organizers, shown on the leaderboard without a rank."""

    name: str
    file: Path
    line: int


@dataclass(frozen=True, slots=True)
class BundlePhase:
    """One phase. `line` is its line in challenge.yaml, for mistakes that are found later.

    `split_seeded` is true if challenge.yaml has a seed. `salt` is the content of `salt.txt`; `salts.salted` sets it.
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
    line: int
    opens_line: int
    closes_line: int
    salt: str = field(default="", repr=False)

    @property
    def declared_track(self) -> Track:
        return TRACKS[self.track]

    @property
    def truth(self) -> Path:
        return self.folder / "truth"

    @property
    def usage(self) -> Path | None:
        """The usage file next to the truth folder, if any. A usage file inside the folder is an ordinary truth file."""
        beside = (self.folder / "usage.csv", self.folder / "usage.csv.gz")
        return next((path for path in beside if path.is_file()), None)

    @property
    def sample(self) -> Path | None:
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
    phases: tuple[BundlePhase, ...]
    closes_line: int
