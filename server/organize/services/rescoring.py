"""Rescores phases: scores all submissions again without changing the leaderboards, then switches all of them at once.

The remaining work is stored as `Rerun` rows (jobs that score a file again), so a rescoring continues after any crash.
Submissions that arrive during a rescoring are scored as usual. Reruns for them are queued whenever somebody requests
the state of the rescoring. The switch does not wait for these reruns, because a busy phase always has some. After the
switch, these submissions are missing from the leaderboards until they have a new score, usually for a few seconds.
"""

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from evaluator.texts import counted
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.locks import lock_teams
from server.challenges.models import Phase, Truth
from server.challenges.roles import Right, refuse_archived, refuse_without
from server.challenges.shaping import signature_of
from server.clock import database_now
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import gates
from server.organize.services.truths import activate, bring_up_to_date, refuse_newly_public
from server.submissions.models import BOOTSTRAPPING, Evaluation, Explanation, Rerun, RerunQuerySet, Status, Submission
from server.submissions.services import reruns
from server.submissions.signals import announce


def start(
    *, phase: Phase, by: User | None, truth: Truth | None = None, reveal: bool = False, retry: bool = False
) -> Rescoring:
    """Start a rescoring against a version of the ground truth, with the current version of the evaluator.

    An open rescoring with the same ground truth and evaluation signature continues; any other is discarded. Without
    `truth`, :func:`default_truth` chooses the version. The version is prepared again if the settings of the phase have
    changed, and the checks of its gate are repeated if the settings or the sample submission have changed. With
    `retry`, submissions whose attempts are used up or whose files were unreadable are scored again. Raises Refused if
    the ground truth cannot be prepared or, unless `reveal` is true, if private images would become public.
    """
    refuse_archived(phase.challenge)
    if reveal:
        refuse_without(Right.OWN, by=by, challenge=phase.challenge)
    truth = truth or default_truth(phase, open_rescoring(phase))
    bring_up_to_date(truth)
    gates.ensure(truth, by=by)
    if not reveal:
        refuse_newly_public(phase, truth)
    return begin(phase=phase, by=by, truth=truth, retry=retry)


@transaction.atomic
def begin(*, phase: Phase, by: User | None, truth: Truth, retry: bool = False) -> Rescoring:
    """Start a rescoring, or continue the open one if it has the same ground truth, settings and evaluator version."""
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    begun = open_rescoring(locked)
    signature = signature_of(locked, truth.sha256)
    if begun is not None and (begun.truth_id, begun.signature) == (truth.pk, signature):
        if retry:
            retry_unscorable(begun)
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


def open_rescoring(phase: Phase) -> Rescoring | None:
    """Return a phase's rescoring that has not been applied yet, or None."""
    return phase.rescorings.select_related("truth").filter(applied_at=None).first()


def default_truth(phase: Phase, begun: Rescoring | None) -> Truth:
    """Return the version of the ground truth that a rescoring uses by default.

    This is the newest version if it has never been active. Otherwise, it is the version of the open rescoring or, if no
    rescoring is open, the active version. Therefore a replaced version becomes active again only on request.
    """
    newest = phase.truths.order_by("-version").first()
    if newest is None:
        raise Refused("invalid", "This phase has no ground truth to rescore against. Add one first.")
    active = phase.truth
    if active is None or (newest.version > active.version and not newest.used):
        return newest
    return begun.truth if begun else active


def version_of(phase: Phase, version: int) -> Truth:
    """Return a version of the phase's ground truth. Raises Refused if there is no such version."""
    found = phase.truths.filter(version=version).first()
    if found is None:
        versions = ", ".join(f"{one.version}{' (active)' if one.active else ''}" for one in phase.truths.all())
        raise Refused(
            "not_found", f"This phase has no ground truth version {version}. Its versions are: {versions or 'none'}."
        )
    return found


@transaction.atomic
def discard(*, phase: Phase, by: User | None) -> None:
    """Discard a phase's rescoring that has not been applied yet. The leaderboards do not change."""
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    begun = open_rescoring(locked)
    if begun is None:
        raise Refused(
            "not_found",
            "There is no rescoring to discard. To undo an applied rescoring, rescore with the previous version of the "
            "ground truth.",
        )
    remove(begun, by=by)


def remove(begun: Rescoring, *, by: User | None) -> None:
    """Remove a rescoring, its reruns (jobs), and the scores that it created. The caller must have locked the phase.

    Scores shown on leaderboards and scores from earlier rescorings against the same ground truth are kept. Reruns that
    the leaderboards need (for a first score against the active ground truth, or its interval) are kept as well.
    """
    if begun.signature != begun.phase.signature:
        teams = {*evaluations_of(begun).values_list("submission__team", flat=True)}
        lock_teams(teams)  # Teams are locked before submissions and reruns, in the same order as in workers.
        queued = Rerun.objects.filter(submission__phase=begun.phase_id, truth=begun.truth_id)
        requested = without_score(begun).exclude(stage=BOOTSTRAPPING)
        (queued.scoring().filter(submission__in=requested) if begun.truth.active else queued).delete()
        added_evaluations(begun).delete()
        announce(begun.phase, teams, begun.signature)
    detail = {"truth": begun.truth.version, "signature": begun.signature}
    audit.record(actor=by, action="rescoring.discarded", subject=f"phase {begun.phase}", detail=detail)
    begun.delete()


def added_evaluations(begun: Rescoring) -> QuerySet[Evaluation]:
    """Return the evaluations that a rescoring created.

    New uploads can have evaluations with the same signature. These are left out, because each is the first evaluation
    of its submission, or the first one against the active ground truth. Under ladder feedback, an evaluation is also
    left out if its score is shown in place of the score of an evaluation that the rescoring did not create.
    """
    earlier = Evaluation.objects.filter(submission=OuterRef("submission"), pk__lt=OuterRef("pk"))
    if begun.truth.active:
        earlier = earlier.filter(truth=begun.truth_id)
    added = evaluations_of(begun).filter(Exists(earlier), created_at__gte=begun.started_at)
    others = Evaluation.objects.filter(submission__phase=begun.phase_id).exclude(pk__in=added)
    return added.exclude(pk__in=others.exclude(published=None).values("published"))


def lock(rescoring: Rescoring) -> tuple[Phase, Rescoring]:
    """Lock and return the phase and its rescoring. Raises Refused if the rescoring is outdated or no longer exists."""
    phase = Phase.objects.select_for_update(no_key=True).get(pk=rescoring.phase_id)
    found = reload(rescoring)
    if found.applied_at is None and found.signature != signature_of(phase, found.truth.sha256):
        raise Refused(
            "rescoring_outdated",
            "The settings of the phase or the version of the evaluator have changed since this rescoring began, so its "
            "scores are no longer valid for this phase. Discard it and start another one.",
        )
    return phase, found


def reload(rescoring: Rescoring) -> Rescoring:
    """Return the rescoring's current row from the database. Raises Refused if it was discarded or replaced."""
    found = Rescoring.objects.select_related("truth", "phase").filter(pk=rescoring.pk).first()
    if found is None:
        raise Refused("not_found", "This rescoring was discarded or replaced.")
    return found


@transaction.atomic
def catch_up(rescoring: Rescoring) -> None:
    """Queue a rerun for every submission that has neither a new score nor a rerun yet."""
    lock(rescoring)  # Raises Refused if the rescoring was discarded, because nothing would remove reruns queued now.
    queued = Rerun.objects.scoring().filter(submission=OuterRef("pk"), truth=rescoring.truth_id)
    reruns.request(without_score(rescoring).exclude(Exists(queued)).order_by("received_at"), truth=rescoring.truth)


def without_score(rescoring: Rescoring) -> QuerySet[Submission]:
    """Return the scored submissions that have no score from this rescoring, and whose files are still stored."""
    done = evaluations_of(rescoring).filter(submission=OuterRef("pk"))
    return Submission.objects.stored().filter(phase=rescoring.phase_id, status=Status.SCORED).exclude(Exists(done))


def evaluations_of(rescoring: Rescoring) -> QuerySet[Evaluation]:
    """Return all evaluations, old or new, with the ground truth, parameters and evaluator version of a rescoring."""
    return Evaluation.objects.filter(
        submission__phase=rescoring.phase_id, truth=rescoring.truth_id, signature=rescoring.signature
    )


def without_intervals(rescoring: Rescoring) -> QuerySet[Submission]:
    """Return the submissions whose new scores have no intervals yet, unless the job that computes them has failed."""
    if not (settings.INTERVAL_REPLICATES and rescoring.phase.declared_track.intervals):
        return Submission.objects.none()
    incomplete = evaluations_of(rescoring).filter(submission=OuterRef("pk")).exclude(scores__low__isnull=False)
    given_up = Rerun.objects.scoring().given_up().filter(truth=rescoring.truth_id, submission=OuterRef("pk"))
    return Submission.objects.stored().filter(Exists(incomplete), status=Status.SCORED).exclude(Exists(given_up))


def unscorable(rescoring: Rescoring) -> RerunQuerySet:
    """Return the reruns that have failed, or that cannot be run because files are unreadable."""
    blocked = Rerun.objects.scoring().blocked()
    blocked = blocked.filter(truth=rescoring.truth_id, submission__in=without_score(rescoring))
    return blocked.select_related("submission__team").order_by("submission__received_at")


def retry_unscorable(rescoring: Rescoring) -> None:
    """Requeue reruns that used up their attempts or had unreadable files. All other failures would occur again."""
    retried = unscorable(rescoring).exclude(failure__gt="", attempts__lt=settings.EVALUATION_ATTEMPTS)
    reruns.try_now(retried)


def count_left(rescoring: Rescoring) -> int:
    """Return how many submissions from before the start of the rescoring can be scored but have no new score yet."""
    left = without_score(rescoring).exclude(pk__in=unscorable(rescoring).values("submission"))
    return left.filter(received_at__lte=rescoring.started_at).count()


def apply(
    *,
    rescoring: Rescoring,
    by: User | None,
    without_unscorable: bool = False,
    without_gate: bool = False,
    reveal: bool = False,
) -> Rescoring:
    """Switch the leaderboards to the new scores.

    If scores are missing, queue jobs for them and raise Refused. Unless `without_gate` is true, also raise Refused if
    the phase would accept no submissions because the ground truth's checks (its gate) are not green. Unless `reveal` is
    true, raise WouldReveal if private images would become public; `applying.apply` asks an owner to confirm that.
    """
    if reveal:
        refuse_without(Right.OWN, by=by, challenge=rescoring.phase.challenge)
    catch_up(rescoring)
    compared = Truth.objects.filter(phase=rescoring.phase_id, active=True).first()
    if not reveal:
        refuse_newly_public(rescoring.phase, rescoring.truth)
    with transaction.atomic():
        phase, found = lock(rescoring)
        if found.applied_at is None:
            if phase.truth != compared:
                raise Refused("rescoring_unfinished", "The active ground truth was changed in the meantime. Try again.")
            if not without_gate:
                gates.refuse_closing(phase, found.truth)
            without = refuse_unfinished(found, without_unscorable=without_unscorable)
            switch(phase, found)
            detail = {"truth": found.truth.version, "signature": found.signature, "without": without}
            audit.record(actor=by, action="rescoring.applied", subject=f"phase {phase}", detail=detail)
    return found


def refuse_unfinished(rescoring: Rescoring, *, without_unscorable: bool) -> int:
    """Return the number of submissions that cannot be scored and would therefore disappear from the leaderboards.

    Raises Refused while other submissions are waiting for a score. Unless `without_unscorable` is set, also raises
    Refused if the number is not 0.
    """
    if unfinished := count_left(rescoring):
        sentence = f"Rescoring has not finished: {counted(unfinished, 'submission')} left to score. Try again later."
        raise Refused("rescoring_unfinished", sentence, left=unfinished)
    if (lost := unscorable(rescoring).count()) and not without_unscorable:
        raise Refused(
            "rescoring_loses",
            f"{counted(lost, 'submission')} cannot be scored against this ground truth and would disappear from "
            "the leaderboards. Check the reason listed for each of them. To try these submissions again, set "
            "retry and start the rescoring again. To apply it without them, set without_unscorable.",
            lost=lost,
        )
    return lost


def switch(phase: Phase, rescoring: Rescoring) -> None:
    """Set the ground truth and evaluation signature of a phase, which must be locked, to those of a rescoring.

    A worker that is recording a score waits for this lock, and then finds that its score is based on the old ground
    truth. Reruns whose files were unreadable are queued again. If such a job succeeds, its submission is listed again.
    """
    scored = Submission.objects.stored().filter(phase=phase, status=Status.SCORED)
    # A worker that records a rerun locks the submission before the rerun. Any other order could cause a deadlock.
    list(scored.select_for_update(no_key=True).order_by("pk").values_list("pk"))
    activate(rescoring.truth)
    phase.signature = rescoring.signature
    phase.save(update_fields=["signature"])
    given_up = unscorable(rescoring).given_up().values("submission")
    late = list(without_score(rescoring).exclude(pk__in=given_up).values_list("pk", flat=True))
    incomplete = list(without_intervals(rescoring).values_list("pk", flat=True))
    Rerun.objects.filter(submission__phase=phase, failure="").delete()
    scored.update(stage="")
    scored.filter(pk__in=[*late, *incomplete]).update(stage=BOOTSTRAPPING)
    reruns.request(scored.filter(pk__in=[*late, *incomplete]), truth=rescoring.truth)
    known = Explanation.objects.filter(evaluation__in=evaluations_of(rescoring), evaluation__submission=OuterRef("pk"))
    unexplained = scored.exclude(pk__in=late).exclude(Exists(known))
    reruns.request_explanations(unexplained, truth=rescoring.truth, track=phase.declared_track)
    rescoring.applied_at = database_now()
    rescoring.save(update_fields=["applied_at"])
