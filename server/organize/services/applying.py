"""Applies rescorings. An owner must confirm a rescoring that makes private images public."""

from server.accounts.models import User
from server.challenges.models import Phase
from server.challenges.roles import Right, refuse_without
from server.errors import Refused
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.organize.services.truths import WouldReveal


def seen_rescoring(phase: Phase, version: int | None) -> Rescoring:
    """Return the open rescoring of a phase.

    `version` is the version of the ground truth whose effects the organizer has seen, or None to skip this check.
    Raises Refused if no rescoring is open, or if somebody has started one against another version in the meantime.
    """
    begun = rescoring.open_rescoring(phase)
    if begun is None:
        raise Refused(
            "change_refused", "No rescoring is in progress. It was applied or discarded, or none was started."
        )
    if version not in (None, begun.truth.version):
        detail = (
            f"Somebody has started another rescoring, against version {begun.truth.version} instead of {version}. "
            "Nothing was changed. Review the effects of that rescoring before you apply it."
        )
        raise Refused("change_refused", detail)
    return begun


def apply(
    *,
    found: Rescoring,
    by: User | None,
    confirm: str = "",
    without_unscorable: bool = False,
    without_gate: bool = False,
) -> Rescoring:
    """Apply a rescoring; see `rescoring.apply`.

    If private images would become public, only an owner may apply it, and `confirm` must be the short name of the
    phase. Otherwise, this function raises WouldReveal.
    """
    accepted = {"without_unscorable": without_unscorable, "without_gate": without_gate}
    try:
        return rescoring.apply(rescoring=found, by=by, **accepted)
    except WouldReveal as refusal:
        phase = found.phase
        refuse_without(Right.OWN, by=by, challenge=phase.challenge)
        if confirm.strip() != phase.slug:
            detail = (
                f"{refusal.consequence} Scores on these images would become part of the public scores and the "
                f"public leaderboard. To apply the rescoring, type the short name of the phase: {phase.slug}."
            )
            raise WouldReveal(refusal.consequence, detail) from refusal
    return rescoring.apply(rescoring=found, by=by, reveal=True, **accepted)
