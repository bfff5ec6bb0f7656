"""Everything scored is scored once more, beside what boards show; then the boards are switched, at one instant.

What is still to be scored are `Rerun` rows, so a rescoring goes on by itself whatever is killed. What teams submit
meanwhile is scored as ever, and asked for here whenever somebody looks. It does not hold up the switch, or on a busy
night there would be none: what lacks its new score then is off the boards until it has it, a matter of seconds.
"""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from evaluator.signature import compose
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.field import read_field
from server.organize.models import Rescoring
from server.submissions.models import BOOTSTRAPPING, Evaluation, Rerun, Status, Submission
from server.submissions.services import reruns


@dataclass(frozen=True, slots=True)
class Change:
    """A line of a board that will be another; a rank is None for a baseline, and where there is no line."""

    team: str
    rank_before: int | None
    rank_after: int | None
    score_before: float | None
    score_after: float | None


@transaction.atomic
def start(*, phase: Phase, by: User | None) -> Rescoring:
    """Rescore against the phase's newest truth, with the present evaluator; go on with what was begun already."""
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    truth = locked.truths.order_by("-version").first()
    if truth is None:
        raise Refused("invalid", "This phase has no truth to rescore against. Add one first.")
    signature = compose(locked.declared_track, locked.declared_track.resolve(locked.parameters), truth.sha256)
    begun = locked.rescorings.filter(applied_at=None).first()
    if begun is not None and (begun.truth_id, begun.signature) == (truth.pk, signature):
        catch_up(begun)
        return begun
    if begun is not None:
        Rerun.objects.filter(truth=begun.truth_id, truth__active=False).delete()
        begun.delete()
    begun = Rescoring.objects.create(
        phase=locked, truth=truth, signature=signature, started_by=by, started_at=database_now()
    )
    catch_up(begun)
    audit.record(actor=by, action="rescoring.started", subject=f"phase {phase}", detail={"signature": signature})
    return begun


@transaction.atomic
def catch_up(rescoring: Rescoring) -> None:
    """Ask for what is lacking and was not asked for."""
    asked = Rerun.objects.scoring().filter(submission=OuterRef("pk"), truth=rescoring.truth_id)
    reruns.ask(lacking(rescoring).exclude(Exists(asked)).order_by("received_at"), truth=rescoring.truth)


def lacking(rescoring: Rescoring) -> QuerySet[Submission]:
    """Scored submissions of the phase without the score that the rescoring is for."""
    done = Evaluation.objects.filter(submission=OuterRef("pk"), truth=rescoring.truth_id, signature=rescoring.signature)
    return Submission.objects.filter(phase=rescoring.phase_id, status=Status.SCORED).exclude(Exists(done))


def unscorable(rescoring: Rescoring) -> QuerySet[Rerun]:
    """Those that were given up: they would leave the boards."""
    given_up = (
        Rerun.objects.scoring().exclude(failure="").filter(truth=rescoring.truth_id, submission__in=lacking(rescoring))
    )
    return given_up.select_related("submission__team").order_by("submission__received_at")


def waiting(rescoring: Rescoring) -> QuerySet[Submission]:
    """Those that are still to be scored."""
    return lacking(rescoring).exclude(pk__in=unscorable(rescoring).values("submission"))


def left(rescoring: Rescoring) -> int:
    """Number of those that the switch has to wait for: they were there when the rescoring began."""
    return waiting(rescoring).filter(received_at__lte=rescoring.started_at).count()


def changes(rescoring: Rescoring, *, split: str) -> list[Change]:
    """Return the lines of a board that differ, in the new order, then those that would be gone."""
    phase = rescoring.phase
    boards = [read_field(phase, split=split, signature=one) for one in (phase.signature, rescoring.signature)]
    before, after = ({entry.team: (rank, entry.score) for rank, entry in field.standings} for field in boards)
    nowhere = (None, None)
    lines = {team: (before.get(team, nowhere), after.get(team, nowhere)) for team in [*after, *before]}
    return [Change(team, old[0], new[0], old[1], new[1]) for team, (old, new) in lines.items() if old != new]


def apply(*, rescoring: Rescoring, by: User | None, without_unscorable: bool = False) -> Rescoring:
    """Switch the boards. Refused while a score is lacking, whose submission is then asked for."""
    catch_up(rescoring)
    with transaction.atomic():
        phase = Phase.objects.select_for_update(no_key=True).get(pk=rescoring.phase_id)
        found = phase.rescorings.select_related("truth").filter(pk=rescoring.pk).first()
        if found is None:
            raise Refused("not_found", "This rescoring was replaced by a later one.")
        if found.applied_at is None:
            refuse_unfinished(found, without_unscorable=without_unscorable)
            switch(phase, found)
            detail = {"signature": found.signature, "without": unscorable(found).count()}
            audit.record(actor=by, action="rescoring.applied", subject=f"phase {phase}", detail=detail)
    return found


def refuse_unfinished(rescoring: Rescoring, *, without_unscorable: bool) -> None:
    if unfinished := left(rescoring):
        sentence = f"{unfinished} submissions are still to be scored. Try again."
        raise Refused("rescoring_unfinished", sentence, left=unfinished)
    if (lost := unscorable(rescoring).count()) and not without_unscorable:
        raise Refused(
            "rescoring_loses",
            f"{lost} submissions cannot be scored this way and would leave the boards. Look at why; "
            "to apply it all the same, say without_unscorable.",
            lost=lost,
        )


def switch(phase: Phase, rescoring: Rescoring) -> None:
    """Make the rescoring's truth and signature those of the phase, in the caller's transaction, which holds the phase.

    Whoever records a score waits for that, and sees afterwards that it was made against the other truth.
    """
    phase.truths.update(active=False)
    phase.truths.filter(pk=rescoring.truth_id).update(active=True)
    phase.signature = rescoring.signature
    phase.save(update_fields=["signature"])
    scored = phase.submissions.filter(status=Status.SCORED)
    late = waiting(rescoring).values_list("pk", flat=True)
    scored.update(stage="")
    scored.filter(pk__in=late).update(stage=BOOTSTRAPPING)
    Rerun.objects.filter(submission__phase=phase, failure="").delete()
    reruns.ask(scored.filter(pk__in=late), truth=rescoring.truth)
    reruns.ask_why(scored.exclude(pk__in=late), truth=rescoring.truth, track=phase.declared_track)
    rescoring.applied_at = database_now()
    rescoring.save(update_fields=["applied_at"])
