"""Where a person is: the challenge, the phase they look at, and who they are in it."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest

from server.challenges.approval import not_a_member, request_of
from server.challenges.models import Challenge, JoinRequest, Membership, Phase, Team
from server.challenges.services import membership_of, registration_end
from server.clock import database_now, is_over
from server.pages.formats import track_title


@dataclass(frozen=True, slots=True)
class Place:
    """What every page of a challenge starts from."""

    challenge: Challenge
    phases: list[Phase]
    phase: Phase | None
    user: Any
    membership: Membership | None
    request: JoinRequest | None
    organizes: bool
    now: datetime

    @property
    def team(self) -> Team | None:
        return self.membership.team if self.membership else None

    @property
    def may_join(self) -> bool:
        may = self.membership is None and self.request is None and not self.organizes
        return may and not is_over(registration_end(self.challenge), self.now)

    @property
    def kind(self) -> str:
        """The phase's track, and who may see the challenge where not everybody may."""
        track = track_title(self.phase.track) if self.phase else ""
        is_public = self.challenge.visibility == Challenge.Visibility.PUBLIC
        return track if is_public else f"{track} · {self.challenge.get_visibility_display()}"

    @property
    def query(self) -> str:
        """What keeps the phase in links, where there are several."""
        return f"?phase={self.phase.slug}" if self.phase and len(self.phases) > 1 else ""

    def open_phase(self) -> Phase:
        """The phase looked at, on pages that are nothing without one."""
        if self.phase is None:
            raise Http404("this challenge has no phase yet")
        return self.phase

    def own_team(self) -> Team:
        """The person's team, on pages that are for members."""
        if self.team is None:
            raise not_a_member(self.user, self.challenge, advice="Read its rules and join first.")
        return self.team


def find(request: HttpRequest, slug: str) -> Place:
    """Resolve an address. What a person may not read does not exist for them."""
    challenge = Challenge.objects.readable_by(request.user).filter(slug=slug).first()
    if challenge is None:
        raise Http404("no such challenge")
    now = database_now()
    phases = list(challenge.phases.all())
    membership = membership_of(request.user, challenge)
    return Place(
        challenge=challenge,
        phases=phases,
        phase=choose(phases, request.GET.get("phase"), now),
        user=request.user,
        membership=membership,
        request=None if membership else request_of(request.user, challenge),
        organizes=challenge.is_organized_by(request.user),
        now=now,
    )


def at(request: HttpRequest, phase: Phase) -> Place:
    """The place of a phase that is known already, as on a submission's page."""
    return replace(find(request, phase.challenge.slug), phase=phase)


def choose(phases: list[Phase], slug: str | None, now: datetime) -> Phase | None:
    """The phase named; else the first open one, else the last that opened, else the first."""
    if slug:
        named = next((phase for phase in phases if phase.slug == slug), None)
        if named is None:
            raise Http404("no such phase")
        return named
    opened = [phase for phase in phases if phase.has_opened(now)]
    running = [phase for phase in opened if phase.is_open(now)]
    return next(iter(running[:1] or opened[-1:] or phases[:1]), None)
