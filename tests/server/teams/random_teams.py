"""Makes random changes to teams through the real services, and checks with its own code how much quota was used."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from random import Random
from typing import Any

from django.core.files.base import ContentFile
from django.db.models import F, Sum

from evaluator.signature import compose
from server.accounts.models import User
from server.challenges.models import Challenge, Membership, Phase, Team, Truth
from server.challenges.services import join
from server.clock import database_now
from server.errors import Refused
from server.submissions.models import QuotaEntry, Status, Submission
from server.submissions.services import choices, intake, leases, lifecycle
from server.teams.models import Invitation, MergeProposal, SentInvitation
from server.teams.services import invitations, members, merging

PEOPLE, SIZE, PER_DAY, DAY = 12, 4, 2, timedelta(days=1)


class RandomTeams:
    """A challenge with two phases. `happen()` carries out a random event, such as an invitation or a submission."""

    def __init__(self, seed: int) -> None:
        self.random, self.done, self.numbers = Random(seed), Counter[str](), count()
        # This union-find structure links people who were in the same team when it submitted or was merged.
        self.linked: dict[int, int] = {}
        self.tokens: list[str] = []
        now = datetime.now(UTC)
        dates = {"opens_at": now - DAY, "closes_at": now + timedelta(days=5000)}
        self.challenge = Challenge.objects.create(slug=f"teams{seed}", title="Teams", team_max_size=SIZE, **dates)
        self.phases = [self.phase(slug) for slug in ("first", "second")]
        self.people = [User.objects.create_user(f"p{seed}-{n}", f"p{seed}-{n}@example.org") for n in range(PEOPLE)]

    def phase(self, slug: str) -> Phase:
        track = "openimages-detection"
        limits = {"gate_exempt": True, "quota_per_day": PER_DAY, "attempts_per_day": 4, "finals": 2}
        phase = Phase.objects.create(challenge=self.challenge, slug=slug, title=slug, track=track, **limits)
        digest = sha256(f"{phase.pk}".encode()).hexdigest()
        truth = Truth.objects.create(phase=phase, version=1, sha256=digest, active=True, used=True)
        phase.signature = compose(phase.declared_track, phase.declared_track.resolve(phase.parameters), truth.sha256)
        phase.save()
        return phase

    def happen(self) -> str:
        """Carry out a random event. Return its name, followed by the error code if the service rejected it."""
        events: dict[Callable[[], None], int] = {
            self.join: 8,
            self.invite: 8,
            self.invite_by_link: 4,
            self.ask: 5,
            self.accept: 20,
            self.accept_link: 8,
            self.close: 3,
            self.leave: 6,
            self.remove: 3,
            self.hand_over: 3,
            self.propose: 8,
            self.confirm: 8,
            self.submit: 30,
            self.score: 15,
            self.reject: 6,
            self.cancel: 4,
            self.choose: 6,
            self.next_day: 3,
        }
        (event,) = self.random.choices([*events], [*events.values()])
        name = event.__name__
        try:
            event()
        except Refused as refusal:
            name = f"{name} {refusal.code}"
        self.done[name] += 1
        return name

    def person(self) -> User:
        return self.random.choice(self.people)

    def team_of(self, user: User) -> Team | None:
        member = Membership.objects.select_related("team").filter(challenge=self.challenge, user=user).first()
        return member.team if member else None

    def some(self, rows: Any) -> Any:
        """Return a random row. If there are no rows, raise Refused, which ends the event."""
        found = list(rows)
        if not found:
            raise Refused("not_found", "nothing to choose from")
        return self.random.choice(found)

    def teams(self) -> Any:
        return Team.objects.filter(challenge=self.challenge).order_by("pk")

    def captain(self, team: Team) -> User:
        return self.some(Membership.objects.filter(team=team, is_captain=True).select_related("user")).user

    def join(self) -> None:
        join(user=self.person(), challenge=self.challenge, accept_rules=True)

    def invite(self) -> None:
        team = self.some(self.teams())
        invitations.invite(team=team, by=self.captain(team), username=self.person().get_username())

    def invite_by_link(self) -> None:
        team = self.some(self.teams())
        self.tokens.append(invitations.invite_by_link(team=team, by=self.captain(team))[1])

    def ask(self) -> None:
        invitations.ask(user=self.person(), team=self.some(self.teams()), accept_rules=True)

    def accept(self) -> None:
        found = self.some(Invitation.objects.exclude(kind="link").filter(team__challenge=self.challenge))
        by = found.user if found.kind == "person" else self.captain(found.team)
        invitations.accept(invitation=found, by=by, accept_rules=True)

    def accept_link(self) -> None:
        token = self.some(self.tokens[-5:])
        invitations.accept_link(token=token, user=self.person(), accept_rules=True)
        assert not Invitation.objects.of_token(token).exists()

    def close(self) -> None:
        found = self.some(Invitation.objects.filter(team__challenge=self.challenge))
        invitations.close(invitation=found, by=self.captain(found.team))

    def leave(self) -> None:
        user = self.person()
        members.leave(team=self.team_of(user) or self.some(self.teams()), by=user)

    def remove(self) -> None:
        team = self.some(self.teams())
        members.remove(team=team, user=self.person(), by=self.captain(team))

    def hand_over(self) -> None:
        team = self.some(self.teams())
        members.hand_over(team=team, user=self.person(), by=self.captain(team))

    def propose(self) -> None:
        team = self.some(self.teams())
        merging.propose(team=team, other=self.some(self.teams()), by=self.captain(team))

    def confirm(self) -> None:
        proposal = self.some(MergeProposal.objects.filter(team__challenge=self.challenge))
        merging.confirm(proposal=proposal, by=self.captain(proposal.other))
        self.link(proposal.team)

    def submit(self) -> None:
        user = self.person()
        team = self.team_of(user) or self.some(self.teams())
        number = next(self.numbers)
        content = f"ImageId,PredictionString\n{number},\n".encode()
        phase = self.random.choice(self.phases)
        intake.submit(user=user, team=team, phase=phase, file=ContentFile(content, "a.csv"), key=f"{user.pk} {number}")
        self.link(team)

    def claimed(self) -> Submission:
        one = self.some(Submission.objects.queued().filter(phase__in=self.phases))
        found = leases.claim(Submission, one.pk)
        assert found is not None
        if self.random.random() < 0.3:
            try:
                self.confirm()
                self.done["confirm while scoring"] += 1
            except Refused:
                pass
        return found

    def score(self) -> None:
        found = self.claimed()
        truth = Truth.objects.get(phase=found.phase, active=True)
        score = self.random.choice((0.25, 0.5, 0.5, 0.75))
        metrics = {"headline": "mAP", "metrics": {"mAP": score, "other": 0.5}, "intervals": {}}
        report = {"signature": found.phase.signature, "splits": dict.fromkeys(("public", "private", "all"), metrics)}
        assert lifecycle.record(found, truth=truth, report=report, cpu_seconds=0.1)

    def reject(self) -> None:
        assert lifecycle.reject(self.claimed(), findings={"errors": [], "total": 1})

    def cancel(self) -> None:
        one = self.some(Submission.objects.queued().filter(phase__in=self.phases))
        lifecycle.cancel(submission=one, by=self.captain(one.team))

    def choose(self) -> None:
        one = self.some(Submission.objects.filter(phase__in=self.phases, status=Status.SCORED).select_related("team"))
        by = self.captain(one.team)
        choices.set_final(submission=one, by=by, final=self.random.random() < 0.6)

    def next_day(self) -> None:
        """Simulate the passing of a day by moving all recorded dates one day into the past."""
        Challenge.objects.filter(pk=self.challenge.pk).update(opens_at=F("opens_at") - DAY)
        Team.objects.filter(challenge=self.challenge).update(last_merge_at=F("last_merge_at") - DAY)
        SentInvitation.objects.filter(challenge=self.challenge).update(sent_at=F("sent_at") - DAY)
        days = QuotaEntry.objects.order_by("day").values_list("day", flat=True).distinct()
        for day in list(days):
            QuotaEntry.objects.filter(day=day).update(day=day - DAY)

    def link(self, team: Team) -> None:
        """If the team has submitted, link its members, so that their quota is counted together."""
        if Submission.objects.filter(team=team).exists():
            first, *others = Membership.objects.filter(team=team).values_list("user", flat=True)
            for other in others:
                self.linked[self.root(other)] = self.root(first)

    def root(self, user: int) -> int:
        while self.linked.get(user, user) != user:
            user = self.linked[user]
        return user

    def wrong(self) -> Iterator[str]:
        """Yield a message for each violated rule about team members, quota ledgers or used quota."""
        yield from self.wrong_members()
        yield from self.wrong_ledgers()
        yield from self.gained_quota()

    def wrong_members(self) -> Iterator[str]:
        for team in self.teams():
            roles = list(team.memberships.values_list("is_captain", flat=True))
            if len(roles) > SIZE or (roles and roles.count(True) != 1) or (team.merged_into_id and roles):
                yield f"{team} has the members {roles}"
            if not roles and not team.merged_into_id:
                yield f"{team} has no members"

    def wrong_ledgers(self) -> Iterator[str]:
        if QuotaEntry.objects.exclude(team=F("submission__team")).exists():
            yield "the ledger of a team has an entry of another team's submission"
        if Submission.objects.filter(team__merged_into__isnull=False).exists():
            yield "a team that was merged into another one has submissions"
        for one in Submission.objects.filter(phase__in=self.phases).annotate(used=Sum("quota_entries__amount")):
            given_back = one.status == Status.REJECTED or (one.status == Status.CANCELLED and one.started_at is None)
            if one.used != (0 if given_back else 1):
                yield f"{one} has used {one.used}"

    def gained_quota(self) -> Iterator[str]:
        """Yield a message for each case in which a group of linked people has used more quota than one team has.

        People are linked if they were in the same team when it submitted or was merged.
        """
        days = (database_now().date() - Challenge.objects.get(pk=self.challenge.pk).opens_at.date()).days + 1
        for phase in self.phases:
            used: Counter[int] = Counter()
            for user, amount in QuotaEntry.objects.filter(phase=phase).values_list("submission__user", "amount"):
                used[self.root(user)] += amount
            for user, total in used.items():
                if total > days * PER_DAY:
                    yield f"{user} and others have used {total} in {days} days of {phase}"
