"""Forms for organizers to pause or extend a phase, grant more submissions, add baselines, and block people."""

from typing import Any, cast

from django import forms
from django.db.models import QuerySet

from evaluator.bundle.rules import NAME_CHARACTERS
from server.challenges.edit_forms import of_phase
from server.challenges.services import REASON_CHARACTERS
from server.errors import Refused
from server.submissions.models import QuotaGrant
from server.submissions.services import grants

ONE_LINE = {"autocomplete": "off"}


def reason_field(help_text: str) -> forms.CharField:
    widget = forms.TextInput(attrs=ONE_LINE)
    return forms.CharField(max_length=REASON_CHARACTERS, label="Reason", help_text=help_text, widget=widget)


class PauseForm(forms.Form):
    """The form for pausing submissions to a phase."""

    reason = reason_field("Participants see the reason.")


class ExtendForm(forms.Form):
    """The form for extending a phase, for all teams or for a single team."""

    until = of_phase("closes_at", "New end", required=True)
    reason = reason_field("The reason is stored in the audit log.")
    confirm = forms.CharField(
        required=False,
        label="Confirm",
        help_text="Type the short name of the phase only if you want to shorten an extension or end the phase earlier.",
        widget=forms.TextInput(attrs=ONE_LINE),
    )


class ExtendPhaseForm(ExtendForm):
    """The form for extending a phase for all teams. It never ends a phase earlier, so it needs no confirmation."""

    confirm = None  # type: ignore[assignment]  # removes the field


class GrantForm(forms.Form):
    """The form for granting a team more submissions."""

    amount = forms.IntegerField(min_value=1, max_value=grants.AMOUNT_MAX, label="Submissions")
    day = forms.DateField(
        required=False,
        label="Day",
        help_text="In UTC. If you leave it empty, the grant raises the total quota.",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    reason = reason_field("The team sees the reason.")


class TakeBackForm(forms.Form):
    """The form for taking back additional submissions that a team was granted but has not used."""

    grant = forms.ModelChoiceField(
        QuotaGrant.objects.none(), label="Grant", empty_label=None, error_messages={"required": "Choose a grant."}
    )
    reason = reason_field("The team sees the reason.")

    def __init__(self, *args: Any, grants: QuerySet[QuotaGrant], **options: Any) -> None:
        super().__init__(*args, **options)
        field = cast("forms.ModelChoiceField[QuotaGrant]", self.fields["grant"])
        field.queryset = grants.filter(amount__gt=0)


class BlockForm(forms.Form):
    """The form for blocking a person from joining a challenge."""

    username = forms.CharField(max_length=150, label="Username", widget=forms.TextInput(attrs=ONE_LINE))
    reason = reason_field("Organizers can see the reason. The person can find it in an export of their data.")


class BaselineForm(forms.Form):
    """The form for submitting a file for a baseline."""

    name = forms.CharField(
        max_length=NAME_CHARACTERS,
        label="Name",
        help_text="The name appears on the leaderboards. If there is already a baseline with this name, the file "
        "becomes its new submission.",
        widget=forms.TextInput(attrs=ONE_LINE),
    )
    file = forms.FileField(
        label="Predictions file",
        error_messages={"required": "Choose a file.", "empty": "This file is empty (0 bytes). Choose another file."},
        max_length=255,
    )


def checked(form: forms.Form) -> dict[str, Any]:
    """Return the cleaned data of a form. Raises Refused if the form is invalid."""
    if form.is_valid():
        return form.cleaned_data
    raise Refused("invalid", "Nothing was changed. Fix the problems below and try again.")
