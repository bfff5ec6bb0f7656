"""Declares every key of challenge.yaml for the import, `podium check-bundle`, the JSON Schema and the help texts."""

from dataclasses import dataclass, field
from typing import Any

from evaluator.bundle.rules import INTEGER_RANGES, LADDER_MARGINS
from evaluator.bundle.values import DOMAINS, PEOPLE, Choice, Integer, Kind, Moment, Name, Number, Slug, Switch, Text
from evaluator.catalog import TRACKS

SEED_MAX = 2**32 - 1
ATTEMPTS_PER_DAY = 20
FEEDBACK = ("exact", "rounded", "ladder")
REVEALS = ("at_close", "manual")


@dataclass(frozen=True, slots=True)
class Key:
    """A key of challenge.yaml.

    Attributes
    ----------
    name : str
    kind : Kind or None
        None for a key that contains other keys.
    meaning : str
        A sentence that explains the key.
    example : str
        An example value, as written in challenge.yaml.
    default : Any
        The value that is used if the key is missing.
    default_text : str
        Description of a default that depends on other keys; if empty, the help texts show ``default``.
    unit : str
    reveals : str
        What participants can learn because of this setting, for example about private images; empty if nothing.
    required : bool
    keys : tuple of Key
        The keys that the value contains.
    repeated : bool
        Whether the value is a list, in which every item contains ``keys``.
    by_track : bool
        Whether the allowed keys of the value depend on the track, because they are the track's parameters.
    """

    name: str
    kind: Kind | None
    meaning: str
    example: str
    default: Any = None
    default_text: str = ""
    unit: str = ""
    reveals: str = ""
    required: bool = False
    keys: tuple["Key", ...] = field(default=())
    repeated: bool = False
    by_track: bool = False


BASELINE = (
    Key("name", Name(), "Name of the baseline on the leaderboard.", "Center prior", "", required=True),
    Key(
        "file",
        Text(200),
        "The submission file, relative to the folder of the phase.",
        "baselines/center.csv",
        "",
        required=True,
        reveals="Participants can see the baseline's scores, as they can see those of a team, but never its file.",
    ),
)
SPLIT = (
    Key(
        "public",
        Number(0, 1, above=True),
        "Fraction of the images that are public. Scores on these images are shown before the phase ends.",
        "0.3",
        1.0,
        unit="fraction of the images",
        reveals="Every public score reveals something about the public images, and more if there are only few of them.",
    ),
    Key(
        "seed",
        Integer(0, SEED_MAX),
        "Seed of the split. It is ignored if the ground truth has a salt, as it does in every new phase.",
        "7",
        0,
        reveals="Without a salt, three scores are enough to determine the seed and thus which images are private.",
    ),
)
QUOTA = (
    Key(
        "per_day",
        Integer(*INTEGER_RANGES["quota_per_day"]),
        "Maximum number of scored submissions per team per day. A day begins at midnight UTC.",
        "5",
        5,
        unit="submissions",
        reveals="Every score reveals a little more about the public images.",
    ),
    Key(
        "total",
        Integer(*INTEGER_RANGES["quota_total"]),
        "Maximum number of scored submissions per team in the whole phase.",
        "200",
        default_text="no limit",
        unit="submissions",
    ),
    Key(
        "attempts_per_day",
        Integer(*INTEGER_RANGES["attempts_per_day"]),
        "Maximum number of uploads per team per day, including rejected uploads.",
        "20",
        default_text=f"{ATTEMPTS_PER_DAY}, or `per_day` if that is higher",
        unit="uploads",
    ),
)
FEEDBACK_KEYS = (
    Key(
        "scores",
        Choice(FEEDBACK),
        "Whether teams see exact scores, rounded scores, or only clear improvements.",
        "exact",
        "exact",
        reveals="`exact` reveals the most. `ladder` hides scores that do not clearly improve on the team's best.",
    ),
    Key(
        "decimals",
        Integer(*INTEGER_RANGES["feedback_decimals"]),
        "Number of decimal places; required with `scores: rounded`, and not allowed otherwise.",
        "5",
        default_text="none",
        unit="decimals",
    ),
    Key(
        "classes",
        Switch(),
        "Whether teams see results per class.",
        "false",
        False,
        reveals="Results for a class with few images reveal the answers for individual images.",
    ),
)
LADDER = (
    Key(
        "standard_errors",
        Number(*LADDER_MARGINS),
        "Number of standard errors by which a score must exceed the team's best to be shown.",
        "2",
        default_text="2",
        unit="standard errors",
    ),
)
PHASE = (
    Key("slug", Slug(), "Short name of the phase; its files are in `phases/SLUG/`.", "main", "", required=True),
    Key("title", Text(120), "Title of the phase.", "Test", default_text="the slug, capitalized"),
    Key(
        "track",
        Choice(TRACKS),
        "The track, which determines the files, the metrics and the parameters.",
        "openimages-detection",
        "",
        required=True,
    ),
    Key(
        "parameters",
        None,
        "Parameters of the track. `podium tracks` lists them.",
        "{group_of_weight: 1.0}",
        default_text="the track's defaults",
        by_track=True,
    ),
    Key(
        "split",
        None,
        "How images are divided into public and private ones. Alternatively, list the usage of each in `usage.csv`.",
        "{public: 0.3}",
        keys=SPLIT,
    ),
    Key(
        "opens_at",
        Moment(begins=True),
        "When the phase opens.",
        "2026-02-01T00:00:00Z",
        default_text="when the challenge opens",
    ),
    Key(
        "closes_at",
        Moment(),
        "When the phase ends.",
        "2026-05-01T00:00:00Z",
        default_text="when the challenge ends",
        reveals="The private scores and the private leaderboard become visible then, unless `reveal` is `manual`.",
    ),
    Key(
        "reveal",
        Choice(REVEALS),
        "When private scores are shown: at the end of the phase (`at_close`), or when an owner decides (`manual`).",
        "at_close",
        "at_close",
        reveals="With `at_close`, nobody can check the private scores before everyone sees them.",
    ),
    Key(
        "freeze_at",
        Moment(),
        "When the public leaderboard is frozen. From then until the phase is over, participants see the entries "
        "as of this time. Teams still see their own scores.",
        "2026-04-24T00:00:00Z",
        default_text="never",
    ),
    Key("quota", None, "How many files a team can submit.", "{per_day: 5, total: 200}", keys=QUOTA),
    Key(
        "finals",
        Integer(*INTEGER_RANGES["finals"]),
        "Number of submissions that a team can select for the private leaderboard; the best of them counts.",
        "2",
        2,
        unit="submissions",
    ),
    Key("feedback", None, "What teams see of their scores.", "{scores: exact, classes: false}", keys=FEEDBACK_KEYS),
    Key(
        "ladder",
        None,
        "Settings for ladder feedback. Allowed only with `feedback: {scores: ladder}`.",
        "{standard_errors: 2}",
        keys=LADDER,
    ),
    Key(
        "baselines",
        None,
        "Submissions by the organizers, shown on the leaderboard without a rank.",
        "[{name: Center prior, file: baselines/center.csv}]",
        keys=BASELINE,
        repeated=True,
    ),
)
TEAMS = (
    Key("max_size", Integer(*INTEGER_RANGES["team_max_size"]), "Maximum size of a team.", "5", 5, unit="people"),
    Key("merge_until", Moment(), "When teams can no longer add members or merge.", "2026-05-01T00:00:00Z"),
)
CHALLENGE = (
    Key("slug", Slug(), "Short name of the challenge in its URL. It cannot be changed.", "animals", "", required=True),
    Key("title", Text(120), "Title of the challenge.", "Animals 2026", "", required=True),
    Key("summary", Text(240), "A one-line summary of the challenge.", "Find the animals.", "", default_text="empty"),
    Key(
        "visibility",
        Choice(("public", "unlisted", "private", "draft")),
        "Who can see the challenge: everyone, everyone who knows the URL, members only, or (draft) organizers only.",
        "public",
        "public",
    ),
    Key(
        "opens_at",
        Moment(begins=True),
        "When the challenge opens.",
        "2026-01-01T00:00:00Z",
        default_text="with the import",
    ),
    Key(
        "closes_at",
        Moment(),
        "When the challenge ends.",
        "2026-06-01T00:00:00Z",
        default_text="never",
        reveals="The private scores of all phases become visible then, unless their `reveal` is `manual`.",
    ),
    Key(
        "join_until", Moment(), "When registration closes.", "2026-05-25T00:00:00Z", default_text="the challenge's end"
    ),
    Key("registration", Choice(("open", "approval")), "Whether organizers approve each new member.", "open", "open"),
    Key(
        "allow",
        DOMAINS,
        "Domains of email addresses. If this is set, only people with a confirmed address at one of them, and "
        "people listed in `allow_people`, can join.",
        "[example.org]",
        "",
        default_text="everyone",
    ),
    Key(
        "allow_people",
        PEOPLE,
        "Email addresses and usernames. If this is set, only these people, and people with a confirmed address at "
        "a domain in `allow`, can join.",
        "[ada@example.org, bob]",
        "",
        default_text="everyone",
    ),
    Key(
        "contact",
        Text(200),
        "An email address or the URL of a web page for questions, shown on the rules page.",
        "organizers@example.org",
        "",
        default_text="none, with a warning",
    ),
    Key("teams", None, "Rules for teams.", "{max_size: 5}", keys=TEAMS),
    Key("phases", None, "The phases, in display order.", "", keys=PHASE, repeated=True, required=True),
)
