"""Submits the forms with which organizers edit a challenge and its phases."""

from typing import Any

from django.test import Client
from django.urls import reverse

from server.challenges.edit_forms import EditChallengeForm, EditPhaseForm
from server.challenges.forms import ConfirmedForm
from server.challenges.models import Challenge, Phase


def form_of(row: Challenge | Phase) -> ConfirmedForm:
    return EditPhaseForm(instance=row) if isinstance(row, Phase) else EditChallengeForm(instance=row)


def submitted(row: Challenge | Phase, **values: Any) -> dict[str, str]:
    """Return the data that a browser submits for an edit form with the given values. Unchecked boxes are left out."""
    form = form_of(row)
    shown = {field.name: field.value() for field in form} | values
    return {name: "on" if value is True else str(value) for name, value in shown.items() if value not in (None, False)}


def address(row: Challenge | Phase) -> str:
    if isinstance(row, Phase):
        return reverse("organize_phase_edit", args=[row.challenge.slug, row.slug])
    return reverse("organize_edit", args=[row.slug])


def save(client: Client, row: Challenge | Phase, **values: Any) -> Any:
    """Enter the given values in the edit form of a challenge or phase, submit it, and return the response."""
    return client.post(address(row), submitted(row, **values))
