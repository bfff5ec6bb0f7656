"""Merges two teams: one captain proposes the merge, and the other confirms it.

Afterwards, their members, submissions and quota belong to one team.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Coalesce

from server.accounts.models import User
from server.challenges.locks import lock_phase
from server.challenges.models import Challenge, Extension, FormerMember, Membership, Phase, Team
from server.clock import database_now
from server.errors import Refused
from server.submissions.models import QuotaEntry, QuotaGrant, Submission
from server.submissions.signals import announce
from server.teams.facts import facts_of_teams
from server.teams.models import Invitation, MergeProposal
from server.teams.rules import Merge, TeamFacts, Terms, Use, reasons_against
from server.teams.services.changes import captain_of, lock, present_terms, record, refuse, refuse_others
from server.teams.services.contacts import note_contact

VALID = timedelta(days=14)
OFFERS_MAX = 20
CLOSED = "This proposal is no longer open. The captain who made it can propose the merge again."


@dataclass(frozen=True, slots=True)
class JointUse:
    """The submissions of two teams to a phase, compared with the limits for one team.

    `allowed` is the number of submissions that one team could have made since the phase opened. `left` is the number of
    files that the merged team could submit on the day of the merge: at most the daily quota, and at most what both
    teams have left of `allowed`.
    """

    title: str
    own: int
    others: int
    allowed: int
    left: int
    total: int | None
    finals: int
    finals_allowed: int

    @property
    def submissions(self) -> int:
        return self.own + self.others


@dataclass(frozen=True, slots=True)
class Preview:
    """The effects of a merge of two teams. `reasons` has one sentence for each rule that forbids the merge now."""

    team: TeamFacts
    other: TeamFacts
    terms: Terms
    reasons: tuple[str, ...]

    @property
    def size(self) -> int:
        return self.team.size + self.other.size

    @property
    def use(self) -> list[JointUse]:
        """The submissions of both teams together, with one item for each phase of the challenge."""
        rows = []
        for slug, phase in self.terms.phases.items():
            own, others = (facts.use.get(slug, Use()) for facts in (self.team, self.other))
            joint, allowed = own.submissions + others.submissions, phase.days * phase.per_day
            rows.append(
                JointUse(
                    title=phase.title,
                    own=own.submissions,
                    others=others.submissions,
                    allowed=allowed,
                    left=0 if phase.is_over else max(0, min(phase.per_day, allowed - joint)),
                    total=phase.total,
                    finals=own.finals + others.finals,
                    finals_allowed=phase.finals,
                )
            )
        return rows


def preview(team: Team, other: Team, *, for_other: bool) -> Preview:
    """Return the effects that a merge of two teams would have now.

    If `for_other` is true, the captain of the team `other` will see the preview. Otherwise, the captain of `team` will
    see it; see `merge_of`.
    """
    change, terms = merge_of(team, other, for_other=for_other), present_terms(team.challenge)
    return Preview(change.team, change.other, terms, tuple(reasons_against(change, terms)))


@transaction.atomic
def propose(*, team: Team, other: Team, by: User) -> MergeProposal:
    """Propose merging the team `other` into the team `team`. Only the captain of `team` may do this."""
    if team == other or team.challenge_id != other.challenge_id:
        raise Refused("invalid", "Choose another team of the same challenge.")
    team, other = lock(team, other)
    refuse_others(by, team)
    terms = present_terms(team.challenge)
    refuse(merge_of(team, other, for_other=False), terms)
    MergeProposal.objects.filter(Q(team=team) | Q(other=other), expires_at__lte=terms.now).delete()
    if MergeProposal.objects.filter(team=other, other=team).exists():
        raise Refused("invalid", f"{other} has proposed a merge with your team. Confirm the proposal instead.")
    if found := MergeProposal.objects.filter(team=team, other=other).first():
        return found
    if MergeProposal.objects.filter(Q(team=team) | Q(other=other)).count() >= OFFERS_MAX:
        raise Refused("invalid", f"There are already {OFFERS_MAX} open proposals. Withdraw one first.")
    note_contact(sender=by, recipient=captain_of(other), challenge=team.challenge, now=terms.now, is_merge=True)
    found = MergeProposal.objects.create(team=team, other=other, created_at=terms.now, expires_at=terms.now + VALID)
    record(by, team, action="team.merge_proposed", other=other.pk)
    return found


def merge_of(team: Team, other: Team, *, for_other: bool) -> Merge:
    """Return the merge of two teams as a `Merge`, which the rules can check.

    Unless `for_other` is true, the captain of `team` will see the reasons against the merge. In this case, the final
    submissions of `other` are not counted, and the reasons contain no numbers of submissions, because these are not
    public.
    """
    facts = facts_of_teams([team, other])
    others = facts[other.pk]
    if not for_other:
        others = replace(others, use={slug: replace(one, finals=0) for slug, one in others.use.items()})
    return Merge(facts[team.pk], others, is_confidential=not for_other)


@transaction.atomic
def confirm(*, proposal: MergeProposal, by: User) -> Team:
    """Merge the two teams of a proposal. Raises Refused if a rule forbids the merge.

    Only the captain of the team that is merged into the other one may do this.
    """
    phases = lock_phases(proposal.team.challenge)
    team, other = lock(proposal.team, proposal.other)
    refuse_others(by, other)
    terms = present_terms(team.challenge)
    if not MergeProposal.objects.filter(pk=proposal.pk, expires_at__gt=terms.now).exists():
        raise Refused("not_found", CLOSED)
    refuse(merge_of(team, other, for_other=True), terms)
    move_people(team, other)
    move_submissions(team, other)
    now = database_now()
    Team.objects.filter(pk=other.pk).update(merged_into=team, merged_at=now)
    Team.objects.filter(pk=team.pk).update(last_merge_at=now)
    for phase in phases:
        announce(phase, [team.pk, other.pk])
    record(by, team, action="team.merged", other=other.pk)
    team.refresh_from_db()
    return team


def lock_phases(challenge: Challenge) -> Iterable[Phase]:
    """Lock a challenge and its phases, and return the phases.

    While a phase is locked, no submission to the phase is added, scored or selected as final. Therefore submissions can
    safely be moved to another team.
    """
    Challenge.objects.select_for_update(no_key=True).get(pk=challenge.pk)
    phases = list(Phase.objects.filter(challenge=challenge).select_related("challenge").order_by("pk"))
    for phase in phases:
        lock_phase(phase.pk)
    return phases


def move_people(team: Team, other: Team) -> None:
    """Move the members and former members of the team `other` to `team`.

    All invitations, requests to join and proposed merges of `other` are deleted. So are invitations of its members to
    `team`, and their requests to join a team. The public page of `team` does not name the new members until they agree.
    """
    moving = Membership.objects.filter(team=other)
    users = list(moving.values_list("user", flat=True))
    Invitation.objects.filter(Q(team=other) | Q(team=team, user__in=users)).delete()
    Invitation.objects.filter(user__in=users, kind=Invitation.Kind.REQUEST, team__challenge=team.challenge).delete()
    MergeProposal.objects.filter(Q(team=other) | Q(other=other)).delete()
    moving.update(team=team, is_captain=False, is_shown=False)
    FormerMember.objects.filter(team=other).update(team=team)


def move_submissions(team: Team, other: Team) -> None:
    """Move the submissions of the team `other` to `team`, with the used and granted quota and the deadline extensions.

    The submissions must be updated before the quota. Their update waits for transactions that are about to finish a
    submission, and such a transaction may still give back quota to `other`.
    """
    keys = Submission.objects.filter(team=team).exclude(idempotency_key="").values("idempotency_key")
    Submission.objects.filter(team=other, idempotency_key__in=keys).update(idempotency_key="")
    Submission.objects.filter(team=other).update(team=team, submitted_by=Coalesce("submitted_by", "team"))
    for kind in (QuotaEntry, QuotaGrant):
        kind.objects.filter(team=other).update(team=team)
    keep_later_extensions(team, other)


def keep_later_extensions(team: Team, other: Team) -> None:
    """Give the deadline extensions of `other` to `team`. If both teams have one for a phase, the later one is kept."""
    own = {one.phase_id: one for one in Extension.objects.filter(team=team)}
    for one in Extension.objects.filter(team=other):
        if one.phase_id in own and own[one.phase_id].until >= one.until:
            continue
        if one.phase_id in own:
            own[one.phase_id].delete()
        one.team = team
        one.save(update_fields=["team"])


@transaction.atomic
def close(*, proposal: MergeProposal, by: User) -> None:
    """Close a proposed merge without merging the teams. Only the captains of the two teams may do this."""
    team, other = lock(proposal.team, proposal.other)
    if not Membership.objects.filter(team__in=(team, other), user=by, is_captain=True).exists():
        raise Refused("forbidden", "Only the captains of the two teams can do this.")
    if not MergeProposal.objects.filter(pk=proposal.pk).delete()[0]:
        raise Refused("not_found", CLOSED)
    record(by, team, action="team.merge_closed", other=other.pk)
