"""Saves a challenge or phase edited in a form. Later imports detect the edit from its entry in the audit log."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import transaction

from server.accounts.models import User
from server.audit import services as audit
from server.challenges.edit_forms import EditChallengeForm, EditPhaseForm
from server.challenges.forms import ConfirmedForm
from server.challenges.models import Challenge, Phase
from server.challenges.roles import Right, refuse_without
from server.challenges.services import lock_organized, lock_organized_phase
from server.challenges.term_changes import delay_reveals
from server.clock import database_now

Form = TypeVar("Form", bound=ConfirmedForm)


@transaction.atomic
def edit_challenge(*, challenge: Challenge, by: User, values: Mapping[str, Any]) -> EditChallengeForm:
    """Save the values of a form and return the form. If the returned form has errors, nothing was saved.

    Only an owner may end a phase or show more scores, and must confirm it with the short name of the challenge.
    """
    locked = lock_organized(challenge.pk, by=by, right=Right.EDIT)
    form = EditChallengeForm(values, instance=locked)
    return save(form, by=by, challenge=locked)


@transaction.atomic
def edit_phase(*, phase: Phase, by: User, values: Mapping[str, Any]) -> EditPhaseForm:
    """Save the values of a form and return the form; see :func:`edit_challenge`.

    Changes are confirmed with the short name of the phase instead of the challenge's short name.
    """
    locked = lock_organized_phase(phase, by=by, right=Right.EDIT)
    form = EditPhaseForm(values, instance=locked)
    return save(form, by=by, challenge=locked.challenge)


def save(form: Form, *, by: User, challenge: Challenge) -> Form:
    if not form.is_valid():
        return form
    if form.consequences:
        refuse_without(Right.OWN, by=by, challenge=challenge)
    row, names = form.instance, sorted(set(form.changed_data) - {"confirm"})
    if not names:
        return form
    row.save(update_fields=names)
    delay_reveals(form.terms_before, challenge, database_now())
    kind = row._meta.model_name
    values = {
        name: [audit.readable_field(name, one) for one in (form.initial.get(name), form.cleaned_data[name])]
        for name in names
    }
    audit.record(
        actor=by, action=f"{kind}.changed", subject=f"{kind} {row.pk}", detail={"fields": names, "values": values}
    )
    return form
