"""The rules for changes to teams, such as joining and merging.

The pure function `reasons_against` checks all rules. Pages and the API use it, so they give the same reasons.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from server.clock import is_over, utc_text


@dataclass(frozen=True, slots=True)
class Use:
    """A team's use of a phase: how many submissions count against its quota, and how many it selected as final.

    `has_files` is true if the team has submitted at all, even if no submission counts against its quota.
    """

    submissions: int = 0
    finals: int = 0
    has_files: bool = False


@dataclass(frozen=True, slots=True)
class TeamFacts:
    """The facts about a team that the rules for changes need, such as its size. The keys of `use` are phase slugs.

    If `hides_reason` is true, the organizers did not show the team why it is disqualified.
    """

    name: str
    size: int = 1
    is_baseline: bool = False
    is_merged: bool = False
    is_disqualified: bool = False
    hides_reason: bool = False
    use: Mapping[str, Use] = field(default_factory=dict)

    @property
    def is_bound(self) -> bool:
        """Whether the team has submitted or is disqualified. If so, its members cannot leave it for another team."""
        return self.is_disqualified or any(one.has_files for one in self.use.values())


@dataclass(frozen=True, slots=True)
class PhaseTerms:
    """The limits for teams in a phase. `days` is the number of days (UTC) since the phase opened, including today."""

    title: str
    per_day: int
    days: int
    total: int | None = None
    finals: int = 2
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class Terms:
    """The limits for teams in a challenge at the time `now`. The keys of `phases` are phase slugs."""

    max_size: int
    now: datetime
    merge_until: datetime | None = None
    closes_at: datetime | None = None
    phases: Mapping[str, PhaseTerms] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Invite:
    """A change to be checked: a team invites a person, or a person requests to join the team."""

    team: TeamFacts


@dataclass(frozen=True, slots=True)
class Enter:
    """A change to be checked: a person joins a team.

    `own` is the person's current team. `former` is a team that the person left after that team had submitted.
    """

    team: TeamFacts
    own: TeamFacts | None = None
    former: TeamFacts | None = None


@dataclass(frozen=True, slots=True)
class Leave:
    """A change to be checked: a member leaves a team."""

    team: TeamFacts
    is_captain: bool


@dataclass(frozen=True, slots=True)
class Remove:
    """A change to be checked: the captain removes another member from a team."""

    team: TeamFacts


@dataclass(frozen=True, slots=True)
class Merge:
    """A change to be checked: the team `other` is merged into the team `team`.

    If `is_confidential` is true, the reasons against the merge do not contain the number of joint submissions.
    """

    team: TeamFacts
    other: TeamFacts
    is_confidential: bool = False


Change = Invite | Enter | Leave | Remove | Merge


def reasons_against(change: Change, terms: Terms) -> Iterator[str]:
    """Yield a sentence for each rule that forbids a change to a team. Yield nothing if the change is allowed.

    >>> from datetime import UTC
    >>> terms = Terms(max_size=2, now=datetime(2026, 1, 1, tzinfo=UTC))
    >>> list(reasons_against(Invite(TeamFacts("Owls", size=2)), terms))
    ['Owls is full. In this challenge, a team can have at most 2 members.']
    """
    match change:
        case Invite(team):
            yield from against_growth(terms)
            yield from against_member(team, terms)
        case Enter(team, own, former):
            yield from against_growth(terms)
            yield from against_member(team, terms)
            yield from against_change_of_team(team, own, former)
        case Leave(team, is_captain):
            yield from against_leaving(team, is_captain=is_captain)
        case Remove(team):
            if team.is_bound:
                yield f"{team.name} has submitted, so the captain cannot remove members. Members can still leave."
        case Merge():
            yield from against_growth(terms)
            yield from against_merge(change, terms)


def against_growth(terms: Terms) -> Iterator[str]:
    """Yield why teams can no longer grow, if the deadline for team changes or the end of the challenge has passed."""
    if terms.merge_until and is_over(terms.merge_until, terms.now):
        yield f"The deadline for team changes was {utc_text(terms.merge_until)}."
    elif terms.closes_at and is_over(terms.closes_at, terms.now):
        yield f"The challenge closed at {utc_text(terms.closes_at)}."


def against_member(team: TeamFacts, terms: Terms) -> Iterator[str]:
    if team.is_baseline or team.is_merged or not team.size:
        yield f"{team.name} has no members, so nobody can join."
    yield from against_disqualified(team)
    if team.size >= terms.max_size:
        yield f"{team.name} is full. In this challenge, a team can have at most {terms.max_size} members."


def against_disqualified(team: TeamFacts) -> Iterator[str]:
    """Yield why a disqualified team cannot be changed. Other teams also read this sentence."""
    if team.is_disqualified and team.hides_reason:
        yield f"The organizers do not allow changes to {team.name} now."
    elif team.is_disqualified:
        yield f"{team.name} is disqualified."


def against_change_of_team(team: TeamFacts, own: TeamFacts | None, former: TeamFacts | None) -> Iterator[str]:
    if former is not None and former != team:
        yield f"A person who left {former.name} after that team had submitted can only return to {former.name}."
    if own is None:
        return
    if own.is_bound:
        yield f"Team {own.name} has submitted, so its members cannot join {team.name} individually. Merge the teams."
    elif own.size > 1:
        yield f"Team {own.name} has other members. Leave it first."


def against_leaving(team: TeamFacts, *, is_captain: bool) -> Iterator[str]:
    if team.size == 1 and team.is_bound:
        yield f"{team.name} has submitted, and you are its only member."
    elif team.size > 1 and is_captain:
        yield "You are the captain. Make another member the captain first."


def against_merge(merge: Merge, terms: Terms) -> Iterator[str]:
    """Yield the reasons, other than passed deadlines, why two teams cannot be merged."""
    team, other = merge.team, merge.other
    for one in (team, other):
        if one.is_baseline or one.is_merged or not one.size:
            yield f"{one.name} has no members, so it cannot be merged."
        yield from against_disqualified(one)
    size = team.size + other.size
    if size > terms.max_size:
        yield (
            f"Together, the teams have {size} members, but a team can have at most {terms.max_size} in this challenge."
        )
    for slug, phase in terms.phases.items():
        own, others = (one.use.get(slug, Use()) for one in (team, other))
        yield from against_joint_submissions(own, others, phase, with_number=not merge.is_confidential)
        yield from against_joint_choices(own, others, phase)


def against_joint_submissions(one: Use, other: Use, phase: PhaseTerms, *, with_number: bool) -> Iterator[str]:
    """Yield a sentence for each limit on submissions to a phase that two teams would exceed as one team."""
    joint, allowed = one.submissions + other.submissions, phase.days * phase.per_day
    made = f"{phase.title}: together, the teams have made {joint if with_number else 'too many'} submissions"
    if joint > allowed:
        yield (
            f"{made}; one team could have made at most {allowed} so far: {phase.days} days with {phase.per_day} each."
        )
    if phase.total is not None and joint > phase.total:
        yield f"{made}; at most {phase.total} are allowed in total."


def against_joint_choices(one: Use, other: Use, phase: PhaseTerms) -> Iterator[str]:
    """Yield why the ranks or the final submissions of two teams in a phase do not allow a merge."""
    if phase.is_over:
        if one.has_files and other.has_files:
            yield f"{phase.title} is over, and both teams have a rank in it."
    elif one.finals + other.finals > phase.finals:
        yield (
            f"{phase.title}: together, the teams have chosen {one.finals + other.finals} final submissions, but "
            f"only {phase.finals} are allowed. Deselect some first."
        )
