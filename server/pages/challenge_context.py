"""The data that all pages of a challenge share: the challenge, the selected phase, and the viewer's role."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

from django.http import Http404, HttpRequest
from django.urls import reverse

from evaluator.catalog import TRACKS
from server.accounts.requests import SAFE_METHODS
from server.challenges.approval import not_a_member
from server.challenges.closing import closing_for
from server.challenges.models import Challenge, JoinRequest, Membership, Phase, Team
from server.challenges.reading import request_of
from server.challenges.roles import Right, refuse_archived
from server.challenges.services import registration_end
from server.clock import is_over
from server.leaderboards.reading import read_with_boards
from server.submissions.feedback import ScoreAccess, score_access


class JoinState(StrEnum):
    """The viewer's status in a challenge, such as member, organizer, or waiting for approval."""

    MEMBER = "member"
    ORGANIZER = "organizer"
    WAITING = "waiting"
    DECLINED = "declined"
    CLOSED = "closed"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class ChallengeContext:
    """The data that every page of a challenge needs. Templates access an instance as `current`."""

    challenge: Challenge
    phases: list[Phase]
    phase: Phase | None
    user: Any
    membership: Membership | None
    join_request: JoinRequest | None
    is_organizer: bool
    now: datetime

    @property
    def team(self) -> Team | None:
        return self.membership.team if self.membership else None

    @property
    def join_state(self) -> JoinState:
        if self.membership:
            return JoinState.MEMBER
        if self.is_organizer:
            return JoinState.ORGANIZER
        if self.join_request:
            is_declined = self.join_request.status == JoinRequest.Status.DECLINED
            return JoinState.DECLINED if is_declined else JoinState.WAITING
        return JoinState.CLOSED if is_over(registration_end(self.challenge), self.now) else JoinState.OPEN

    @property
    def may_edit(self) -> bool:
        """Whether the viewer may edit the challenge as one of its organizers."""
        return self.may_change(Right.EDIT)

    @property
    def may_own(self) -> bool:
        """Whether the viewer has the rights of an owner: to change the organizers, end phases and reveal scores."""
        return self.may_change(Right.OWN)

    def may_change(self, right: Right) -> bool:
        """Return whether the viewer has the given right as an organizer. Return False if the challenge is archived."""
        is_archived = self.challenge.archived_at is not None
        return self.is_organizer and not is_archived and self.challenge.is_organized_by(self.user, right)

    @property
    def needs_approval(self) -> bool:
        return bool(self.challenge.registration == Challenge.Registration.APPROVAL)

    @property
    def joins_with_file(self) -> bool:
        """Whether the viewer has not joined the challenge yet, and would join it by submitting a file."""
        return self.join_state == JoinState.OPEN and not self.needs_approval

    @property
    def may_be_invited(self) -> bool:
        """Whether the viewer is logged in, has no team, and could be invited to one."""
        states = (JoinState.OPEN, JoinState.CLOSED, JoinState.WAITING)
        return bool(self.user.is_authenticated) and self.join_state in states

    @property
    def has_several_phases(self) -> bool:
        return len(self.phases) > 1

    @property
    def track_and_visibility(self) -> str:
        """One line of text: the title of the phase's track, the challenge's visibility, and whether it is archived.

        The visibility is left out for public challenges.
        """
        track = track_title(self.phase.track) if self.phase else ""
        is_public = self.challenge.visibility == Challenge.Visibility.PUBLIC
        visibility = "" if is_public else self.challenge.get_visibility_display()
        archived = "archived: read-only" if self.challenge.archived_at else ""
        return " · ".join(filter(None, (track, visibility, archived)))

    @property
    def phase_query(self) -> str:
        """The query string that selects the phase in links. It is empty if the challenge has only one phase."""
        return f"?phase={self.phase.slug}" if self.phase and self.has_several_phases else ""

    @property
    def page_query(self) -> str:
        """The query string that selects the phase. It ends in "?" or "&", so that a page number can be appended."""
        return f"{self.phase_query}&" if self.phase_query else "?"

    def url(self, name: str) -> str:
        """Return the URL of a page of this challenge, given its URL name. The URL selects the same phase."""
        return challenge_url(name, self.challenge.slug) + self.phase_query

    @property
    def score_access(self) -> ScoreAccess:
        """The scores of the phase that the viewer may see, and their precision."""
        return score_access(self.required_phase(), viewer=self.user, now=self.now, is_organizer=self.is_organizer)

    @property
    def closing(self) -> datetime | None:
        """The submission deadline of the viewer's team for the phase, or None if there is no deadline."""
        return closing_for(self.team, self.required_phase())

    def required_phase(self) -> Phase:
        """Return the phase selected for the page. Raises Http404 if the challenge has no phase yet."""
        if self.phase is None:
            raise Http404("this challenge has no phase yet")
        return self.phase

    def required_team(self) -> Team:
        """Return the viewer's team in the challenge. Raises Refused if the viewer has not joined the challenge."""
        if self.team is None:
            raise not_a_member(self.user, self.challenge, advice="Read the rules and join the challenge first.")
        return self.team


@lru_cache(maxsize=1_000)
def challenge_url(name: str, slug: str) -> str:
    """Return the URL of a challenge's page, given its URL name and the challenge's slug.

    URLs are cached, because every page contains several of them.
    """
    return reverse(name, args=[slug])


def find_context(request: HttpRequest, slug: str, *, archived: bool = False) -> ChallengeContext:
    """Return the template context for a page of a challenge. Raises Http404 if the viewer may not see the challenge.

    Requests that could change data of an archived challenge raise Refused, unless `archived` is true.
    """
    read = read_with_boards(request.user, slug)
    if read is None:
        raise Http404("no such challenge")
    if request.method not in SAFE_METHODS and not archived:
        refuse_archived(read.challenge)
    return ChallengeContext(
        challenge=read.challenge,
        phases=read.phases,
        phase=requested_phase(read.phases, request.GET.get("phase"), read.now),
        user=request.user,
        membership=read.membership,
        join_request=None if read.membership else request_of(request.user, read.challenge),
        is_organizer=read.is_organizer,
        now=read.now,
    )


def context_of_phase(request: HttpRequest, phase: Phase) -> ChallengeContext:
    """Return the template context for a page whose URL does not name its phase, such as the page of a submission."""
    current = find_context(request, phase.challenge.slug)
    return replace(current, phase=next((one for one in current.phases if one == phase), phase))


def requested_phase(phases: list[Phase], slug: str | None, now: datetime) -> Phase | None:
    """Return the phase with the given slug or, without a slug, the default phase.

    Raises Http404 if no phase has the given slug.
    """
    if not slug:
        return default_phase(phases, now)
    named = next((phase for phase in phases if phase.slug == slug), None)
    if named is None:
        raise Http404("no such phase")
    return named


def default_phase(phases: list[Phase], now: datetime) -> Phase | None:
    """Return the phase that a challenge's pages show by default.

    This is the first open phase. If no phase is open, it is the last phase that has opened, or else the first phase.
    """
    opened = [phase for phase in phases if phase.has_opened(now)]
    running = [phase for phase in opened if phase.is_open(now)]
    return next(iter(running[:1] or opened[-1:] or phases[:1]), None)


def track_title(name: str) -> str:
    """Return the title of a track, or its name if the track is no longer in the catalogue."""
    return TRACKS[name].title if name in TRACKS else name
