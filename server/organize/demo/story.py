"""Defines the teams in the demo and the quality of their submission files.

Random numbers are seeded, so that every demo is the same.
"""

from dataclasses import dataclass

STARTER_QUALITY = 0.15


@dataclass(frozen=True, slots=True)
class Entrant:
    """A team with its members, and the quality of each of its files in the order of submission."""

    team: str
    members: tuple[str, ...]
    qualities: tuple[float, ...]
    submits_broken_file: bool = False


@dataclass(frozen=True, slots=True)
class Story:
    """The content of one demo challenge. The texts of its pages are in the folder `texts/<name>`."""

    name: str
    slug: str
    track: str
    images: int
    seed: int
    entrants: tuple[Entrant, ...]

    @property
    def qualities(self) -> list[float]:
        """The distinct quality values of all submission files that the demo needs, including the baseline's file."""
        return sorted({STARTER_QUALITY, *(quality for entrant in self.entrants for quality in entrant.qualities)})


ORGANIZER = "organizer"
PEOPLE = (ORGANIZER, "participant", "teammate")

# For each role in the demo: the username, what to try, and the page to start on.
ROLES = (
    (ORGANIZER, "watch a challenge, edit it, or create another one:", "/organize/"),
    ("participant", "submit a file, and compare it with earlier ones:", "/challenges/demo-detection/submit"),
    ("teammate", "invite someone, and select final submissions:", "/challenges/demo-detection/team"),
    ("(new name)", "sign up, and get a score in six clicks:", "/accounts/signup"),
)

STORIES = (
    Story(
        name="detection",
        slug="demo-detection",
        track="openimages-detection",
        images=400,
        seed=7,
        entrants=(
            Entrant("Aurora", ("aurora",), (0.28, 0.51, 0.67, 0.83)),
            Entrant("Basalt", ("basalt",), (0.22, 0.47, 0.44, 0.71)),
            Entrant("Cinder", ("cinder",), (0.31, 0.58, 0.72)),
            Entrant("Granite", ("participant", "teammate"), (0.25, 0.49, 0.64), submits_broken_file=True),
            Entrant("Juniper", ("juniper",), (0.19, 0.38, 0.55)),
            Entrant("Meridian", ("meridian",), (0.36, 0.62, 0.79)),
        ),
    ),
    Story(
        name="relationships",
        slug="demo-relationships",
        track="openimages-relationships",
        images=300,
        seed=8,
        entrants=(
            Entrant("Aurora", ("aurora",), (0.24, 0.46, 0.61)),
            Entrant("Cinder", ("cinder",), (0.33, 0.52, 0.75, 0.74)),
            Entrant("Indigo", ("indigo",), (0.21, 0.43, 0.68)),
            Entrant("Juniper", ("juniper",), (0.29, 0.57)),
            Entrant("Quartz", ("quartz",), (0.18, 0.41, 0.66, 0.81)),
        ),
    ),
)
