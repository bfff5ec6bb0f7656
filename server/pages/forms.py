"""The forms of a challenge's pages."""

from datetime import datetime

from django import forms

from server.clock import in_utc


class JoinForm(forms.Form):
    """The form to join: the team's name and the consent to the rules, without which the service refuses."""

    team_name = forms.CharField(
        max_length=80,
        required=False,
        label="Team name",
        help_text="Shown on the leaderboard. If you leave it empty, your username is used.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    accept_rules = forms.BooleanField(required=False, label="I have read the rules and accept them.")


class SubmitForm(forms.Form):
    """The form to submit: a file and a note. The file's content is not checked here, but when it is scored."""

    file = forms.FileField(
        label="Predictions file",
        error_messages={"required": "Choose a file.", "empty": "This file is empty (0 bytes). Choose another one."},
        max_length=255,
        allow_empty_file=True,
    )
    note = forms.CharField(
        max_length=500,
        required=False,
        help_text="Only your team sees this note. For example: what has changed since your last submission.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class EditForm(forms.Form):
    """A change to a submission: its note, or whether it is final."""

    note = forms.CharField(max_length=500, required=False)
    final = forms.NullBooleanField()


class LeaderboardForm(forms.Form):
    """The query string of a leaderboard."""

    split = forms.ChoiceField(choices=[(name, name) for name in ("public", "private", "all")], required=False)
    at = forms.DateTimeField(required=False, input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])
    page = forms.IntegerField(min_value=1, required=False)

    def clean_at(self) -> datetime | None:
        at: datetime | None = self.cleaned_data["at"]
        try:
            return at and in_utc(at)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None
