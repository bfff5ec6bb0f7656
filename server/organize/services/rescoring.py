"""Everything scored is scored once more, beside what boards show; then the boards are switched, at one instant.

What is still to be scored are `Rerun` rows, so a rescoring goes on by itself whatever is killed. What teams submit
meanwhile is scored as ever, and asked for here whenever somebody looks. It does not hold up the switch, or on a busy
night there would be none: what lacks its new score then is off the boards until it has it, a matter of seconds.
"""

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from evaluator.signature import compose
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.models import Phase, Truth
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.field import read_field
from server.organize.models import Rescoring
from server.organize.services.truths import put_into_use, refuse_newly_public
from server.submissions.models import BOOTSTRAPPING, Evaluation, Explanation, Rerun, Status, Submission
from server.submissions.services import reruns


@dataclass(frozen=True, slots=True)
class Change:
    """A line of a board that will be another; a rank is None for a baseline, and where there is no line."""

    team: str
    rank_before: int | None
    rank_after: int | None
    score_before: float | None
    score_after: float | None


def start(*, phase: Phase, by: User | None, truth: Truth | None = None, reveal: bool = False) -> Rescoring:
    """Rescore against a truth version, with the present evaluator; continue where the same was begun already.

    Without `truth`, :func:`proposed` decides. A rescoring to another version that was begun is discarded. Refused
    where images would be public that are private now, unless `reveal` allows it.
    """
    truth = truth or proposed(phase, begun_of(phase))
    if not reveal:
        refuse_newly_public(phase, truth)
    return begin(phase=phase, by=by, truth=truth)


@transaction.atomic
def begin(*, phase: Phase, by: User | None, truth: Truth) -> Rescoring:
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    begun = begun_of(locked)
    signature = compose(locked.declared_track, locked.declared_track.resolve(locked.parameters), truth.sha256)
    if begun is not None and (begun.truth_id, begun.signature) == (truth.pk, signature):
        catch_up(begun)
        return begun
    if begun is not None:
        remove(begun, by=by)
    begun = Rescoring.objects.create(
        phase=locked, truth=truth, signature=signature, started_by=by, started_at=database_now()
    )
    catch_up(begun)
    detail = {"truth": truth.version, "signature": signature}
    audit.record(actor=by, action="rescoring.started", subject=f"phase {phase}", detail=detail)
    return begun


def begun_of(phase: Phase) -> Rescoring | None:
    """Return the rescoring that was begun and not applied, if there is one."""
    return phase.rescorings.select_related("truth").filter(applied_at=None).first()


def proposed(phase: Phase, begun: Rescoring | None) -> Truth:
    """Return the truth to rescore against where none is named.

    It is the newest version if that was never in use. Else it is that of the rescoring that was begun, else the active
    one: a version that was taken back does not return unless it is named.
    """
    newest = phase.truths.order_by("-version").first()
    if newest is None:
        raise Refused("invalid", "This phase has no truth to rescore against. Add one first.")
    active = phase.truth
    if active is None or (newest.version > active.version and not newest.used):
        return newest
    return begun.truth if begun else active


def version_of(phase: Phase, version: int) -> Truth:
    """Return a version of the phase's truth; refused where there is no such version."""
    found = phase.truths.filter(version=version).first()
    if found is None:
        there = ", ".join(f"{one.version}{' (active)' if one.active else ''}" for one in phase.truths.all())
        raise Refused("not_found", f"This phase has no truth version {version}. Its versions are: {there or 'none'}.")
    return found


@transaction.atomic
def discard(*, phase: Phase, by: User | None) -> None:
    """Give up the rescoring that was begun: the boards stay, and only the audit log still mentions it."""
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    begun = begun_of(locked)
    if begun is None:
        raise Refused(
            "not_found",
            "No rescoring waits to be applied. To undo one that was applied, rescore to the truth version before it.",
        )
    remove(begun, by=by)


def remove(begun: Rescoring, *, by: User | None) -> None:
    """Remove a rescoring with its reruns and the scores that it brought. The caller holds the phase.

    Scores of an earlier rescoring to the same truth are kept, and so is everything that the boards show.
    """
    if begun.signature != begun.phase.signature:
        wanted = Rerun.objects.filter(submission__phase=begun.phase_id, truth=begun.truth_id)
        (wanted.filter(submission__in=lacking(begun)) if begun.truth.active else wanted).delete()
        kept(begun).filter(created_at__gte=begun.started_at).delete()
    detail = {"truth": begun.truth.version, "signature": begun.signature}
    audit.record(actor=by, action="rescoring.discarded", subject=f"phase {begun.phase}", detail=detail)
    begun.delete()


def held(rescoring: Rescoring) -> tuple[Phase, Rescoring]:
    """Lock the phase and read the rescoring again. Refused where it was discarded or replaced."""
    phase = Phase.objects.select_for_update(no_key=True).get(pk=rescoring.phase_id)
    return phase, read_again(rescoring)


def read_again(rescoring: Rescoring) -> Rescoring:
    """Return the row as the database has it now. Refused where it was discarded or replaced."""
    found = Rescoring.objects.select_related("truth", "phase").filter(pk=rescoring.pk).first()
    if found is None:
        raise Refused("not_found", "This rescoring was discarded or replaced by another.")
    return found


@transaction.atomic
def catch_up(rescoring: Rescoring) -> None:
    """Queue a rerun for every submission that has neither the new score nor a pending rerun."""
    held(rescoring)  # nobody else would remove the reruns of a rescoring that is gone
    asked = Rerun.objects.scoring().filter(submission=OuterRef("pk"), truth=rescoring.truth_id)
    reruns.ask(lacking(rescoring).exclude(Exists(asked)).order_by("received_at"), truth=rescoring.truth)


def lacking(rescoring: Rescoring) -> QuerySet[Submission]:
    """Scored submissions of the phase without the score that the rescoring is for."""
    done = kept(rescoring).filter(submission=OuterRef("pk"))
    return Submission.objects.filter(phase=rescoring.phase_id, status=Status.SCORED).exclude(Exists(done))


def kept(rescoring: Rescoring) -> QuerySet[Evaluation]:
    """Evaluations of the kind that the rescoring is for, also those from when their truth was last in use."""
    return Evaluation.objects.filter(
        submission__phase=rescoring.phase_id, truth=rescoring.truth_id, signature=rescoring.signature
    )


def without_intervals(rescoring: Rescoring) -> QuerySet[Submission]:
    """Submissions whose kept evaluation never got its intervals, because another truth came into use before."""
    if not (settings.INTERVAL_REPLICATES and rescoring.phase.declared_track.intervals):
        return Submission.objects.none()
    bare = kept(rescoring).filter(submission=OuterRef("pk")).exclude(scores__low__isnull=False)
    given_up = Rerun.objects.scoring().exclude(failure="").filter(truth=rescoring.truth_id, submission=OuterRef("pk"))
    return Submission.objects.filter(Exists(bare), status=Status.SCORED).exclude(Exists(given_up))


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


def apply(
    *, rescoring: Rescoring, by: User | None, without_unscorable: bool = False, reveal: bool = False
) -> Rescoring:
    """Switch the boards. Refused while a score is lacking, whose submission is then asked for.

    Refused, too, where images would be public that are private now, unless `reveal` allows it.
    """
    catch_up(rescoring)
    compared = Truth.objects.filter(phase=rescoring.phase_id, active=True).first()
    if not reveal:
        refuse_newly_public(rescoring.phase, rescoring.truth)
    with transaction.atomic():
        phase, found = held(rescoring)
        if found.applied_at is None:
            if phase.truth != compared:
                raise Refused("rescoring_unfinished", "Another truth came into use meanwhile. Try again.")
            refuse_unfinished(found, without_unscorable=without_unscorable)
            switch(phase, found)
            detail = {
                "truth": found.truth.version,
                "signature": found.signature,
                "without": unscorable(found).count(),
            }
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
    put_into_use(rescoring.truth)
    phase.signature = rescoring.signature
    phase.save(update_fields=["signature"])
    scored = phase.submissions.filter(status=Status.SCORED)
    late = list(waiting(rescoring).values_list("pk", flat=True))
    bare = list(without_intervals(rescoring).values_list("pk", flat=True))
    Rerun.objects.filter(submission__phase=phase, failure="").delete()
    scored.update(stage="")
    scored.filter(pk__in=[*late, *bare]).update(stage=BOOTSTRAPPING)
    reruns.ask(scored.filter(pk__in=[*late, *bare]), truth=rescoring.truth)
    explained = Explanation.objects.filter(evaluation__in=kept(rescoring), evaluation__submission=OuterRef("pk"))
    unexplained = scored.exclude(pk__in=late).exclude(Exists(explained))
    reruns.ask_why(unexplained, truth=rescoring.truth, track=phase.declared_track)
    rescoring.applied_at = database_now()
    rescoring.save(update_fields=["applied_at"])
