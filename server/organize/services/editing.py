"""Edits a challenge or a phase as its form says, with an audit entry. A later import finds the edit by this entry."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.edit_forms import EditChallengeForm, EditPhaseForm
from server.challenges.forms import ConfirmedForm
from server.challenges.models import Challenge, Phase
from server.challenges.roles import Right, refuse_without
from server.challenges.services import lock_organized

Form = TypeVar("Form", bound=ConfirmedForm)


@transaction.atomic
def edit_challenge(*, challenge: Challenge, by: User, values: Mapping[str, Any]) -> EditChallengeForm:
    """Save the values of a form. If the form that is returned has errors, nothing was saved.

    An edit that ends a phase or shows more scores needs the short name of the challenge as confirmation, and an owner.
    """
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    form = EditChallengeForm(values, instance=locked)
    return save(form, by=by, challenge=locked)


@transaction.atomic
def edit_phase(*, phase: Phase, by: User, values: Mapping[str, Any]) -> EditPhaseForm:
    """Save the values of a form, as :func:`edit_challenge` does. The confirmation is the short name of the phase."""
    challenge = lock_organized(phase.challenge_id, by=by, right=Right.EDIT)
    locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    form = EditPhaseForm(values, instance=locked)
    return save(form, by=by, challenge=challenge)


def save(form: Form, *, by: User, challenge: Challenge) -> Form:
    if not form.is_valid():
        return form
    if form.consequences:
        refuse_without(Right.OWN, by=by, challenge=challenge)
    row, names = form.instance, sorted(set(form.changed_data) - {"confirm"})
    if not names:
        return form
    row.save(update_fields=names)
    kind = row._meta.model_name
    values = {name: [audit.readable(form.initial.get(name)), audit.readable(form.cleaned_data[name])] for name in names}
    audit.record(
        actor=by, action=f"{kind}.changed", subject=f"{kind} {row.pk}", detail={"fields": names, "values": values}
    )
    return form
