"""Django forms for the pages of a challenge."""

from datetime import datetime

from django import forms

from evaluator.dates import in_utc
from server.accounts.countries import COUNTRIES
from server.errors import Refused
from server.leaderboards.listing import BASELINES
from server.organize.models import REASON_CHARACTERS, SIGNED_CHARACTERS
from server.submissions.services.choices import checked_note


class TeamNameForm(forms.Form):
    """A form with one field for the name of a new team."""

    team_name = forms.CharField(
        max_length=80,
        required=False,
        label="Team name",
        help_text="The name appears on the leaderboard. If you leave it empty, your username is used.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class JoinForm(TeamNameForm):
    """The form for joining a challenge, with a team name and a checkbox for accepting the rules."""

    accept_rules = forms.BooleanField(required=False, label="I have read the rules and accept them.")


class SubmitForm(forms.Form):
    """The form for submitting a file with a note. The content of the file is checked later, when it is scored."""

    file = forms.FileField(
        label="Predictions file",
        error_messages={"required": "Choose a file.", "empty": "This file is empty (0 bytes). Choose another file."},
        max_length=255,
        allow_empty_file=True,
    )
    note = forms.CharField(
        max_length=500,
        required=False,
        help_text="For example, what has changed since your last submission. Only your team sees this note.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_note(self) -> str:
        try:
            return checked_note(self.cleaned_data["note"])
        except Refused as refusal:
            raise forms.ValidationError(refusal.detail) from None


class FirstSubmitForm(SubmitForm, TeamNameForm):
    """The form for joining a challenge by submitting a file.

    Acceptance of the rules is a query parameter instead of a form field, so that it can be checked before the file is
    read.
    """


class BundleForm(forms.Form):
    """The form for importing a challenge as a zip file."""

    file = forms.FileField(
        label="Bundle as a zip file",
        error_messages={"required": "Choose a file.", "empty": "This file is empty (0 bytes). Choose another file."},
        max_length=255,
    )
    strict = forms.BooleanField(required=False, label="Treat every warning as an error.")
    reveal = forms.BooleanField(
        required=False, label="Allow this import to end or remove a phase, and to show more of its scores."
    )
    force = forms.BooleanField(required=False, label="Allow this import to undo edits made on the server.")


class TruthForm(forms.Form):
    """The form for adding a version of the ground truth."""

    file = forms.FileField(label="Ground truth as a zip file", max_length=255)
    reveal = forms.BooleanField(required=False, label="Allow private images to become public.")


class RescoreForm(forms.Form):
    """The form for rescoring all submissions to a phase against a version of the ground truth."""

    truth = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    reveal = forms.BooleanField(required=False)


class SeenForm(forms.Form):
    """A form for an action on the open rescoring. `version` is the ground truth version shown on the page.

    A request without `version`, for example from a script, acts on any open rescoring.
    """

    version = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)


class ApplyForm(SeenForm):
    """The form for applying a rescoring and explaining it in the public change log."""

    reason = forms.CharField(
        max_length=REASON_CHARACTERS,
        required=False,
        label="Why",
        help_text="Everyone can read this in the change log.",
    )
    signed = forms.CharField(
        max_length=SIGNED_CHARACTERS,
        required=False,
        label="Your name in the change log",
        help_text="Leave it empty to show no name.",
    )
    without_unscorable = forms.BooleanField(
        required=False, label="Remove from the leaderboards any submissions that cannot be scored."
    )
    without_gate = forms.BooleanField(
        required=False, label="Accept that the phase will be closed for submissions until its gate is green."
    )
    confirm = forms.CharField(required=False, widget=forms.TextInput(attrs={"autocomplete": "off"}))


class EditForm(forms.Form):
    """The form for editing a submission's note and method, and for selecting it as a final submission."""

    note = forms.CharField(max_length=500, required=False)
    final = forms.NullBooleanField()
    method = forms.CharField(required=False)
    paper_url = forms.CharField(required=False)
    code_url = forms.CharField(required=False)


class AnnouncementForm(forms.Form):
    """The form for writing an announcement to all participants in a challenge."""

    title = forms.CharField(max_length=120, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    text = forms.CharField(max_length=5000, widget=forms.Textarea, help_text="Markdown")
    with_mail = forms.BooleanField(
        required=False,
        initial=True,
        label="Send emails",
        help_text="Everyone who takes part gets a notice. People who turned on emails about announcements also get an "
        "email.",
    )


class LeaderboardForm(forms.Form):
    """A form that validates the query parameters of a leaderboard page."""

    split = forms.ChoiceField(choices=[(name, name) for name in ("public", "private", "all")], required=False)
    at = forms.DateTimeField(required=False, input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])
    page = forms.IntegerField(min_value=1, required=False)
    q = forms.CharField(required=False)
    baselines = forms.ChoiceField(choices=[(name, name) for name in BASELINES], required=False)
    sort = forms.CharField(required=False)
    country = forms.ChoiceField(choices=[*COUNTRIES.items()], required=False)

    def clean_at(self) -> datetime | None:
        at: datetime | None = self.cleaned_data["at"]
        try:
            return at and in_utc(at)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None
