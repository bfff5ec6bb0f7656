"""The forms with which organizers edit a challenge and its phases on the site. They follow the rules of bundles."""

from typing import Any, ClassVar

import yaml
from django import forms
from django.core.exceptions import ValidationError

from evaluator.bundle.keys import CHALLENGE, PHASE
from evaluator.bundle.rules import check_opening
from server.challenges.forms import ChallengeForm, PhaseForm
from server.challenges.key_fields import KeyField, TextField, find_key
from server.challenges.models import Challenge, Phase

TEXTS = ("description", "rules", "data")


def of_challenge(path: str, label: str, *, required: bool = False) -> KeyField:
    return KeyField(find_key(CHALLENGE, path), label=label, required=required)


def of_phase(path: str, label: str, *, required: bool = False) -> KeyField:
    return KeyField(find_key(PHASE, path), label=label, required=required)


class EditChallengeForm(ChallengeForm):
    """The form of a challenge: its texts, dates, and rules for people who take part."""

    title = of_challenge("title", "Title", required=True)
    summary = of_challenge("summary", "Summary")
    contact = of_challenge("contact", "Contact")
    description = TextField(label="Description")
    rules = TextField(label="Rules")
    data = TextField(label="Data")  # type: ignore[assignment]  # the metaclass moves the fields out of the class
    visibility = of_challenge("visibility", "Visibility", required=True)
    opens_at = of_challenge("opens_at", "Opens", required=True)
    closes_at = of_challenge("closes_at", "Closes")
    join_until = of_challenge("join_until", "Joining ends")
    registration = of_challenge("registration", "Registration", required=True)
    allowed_domains = of_challenge("allow", "Email domains")
    team_max_size = of_challenge("teams.max_size", "Maximum size of a team", required=True)
    merge_until = of_challenge("teams.merge_until", "Merging of teams ends")

    class Meta:
        model = Challenge
        fields: ClassVar = [
            *("title", "summary", "contact", *TEXTS, "opens_at", "closes_at", "join_until", "merge_until"),
            *("visibility", "registration", "allowed_domains", "team_max_size"),
        ]

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if violation := check_opening(given.get("opens_at"), given.get("closes_at")):
            self.add_error(violation.field, ValidationError(f"Closes: {violation.message}.", code=violation.code))
        self.check_draft(given.get("visibility"))
        return super().clean()

    def check_draft(self, visibility: str | None) -> None:
        """Add an error if a draft is published here, or if a challenge that somebody has joined becomes a draft."""
        draft, before = Challenge.Visibility.DRAFT, self.initial["visibility"]
        if visibility and (visibility == draft) != (before == draft):
            message = "Visibility: publish a draft, or take it back, on the page Organize of the challenge."
            self.add_error("visibility", ValidationError(message, code="draft"))


class NewChallengeForm(forms.Form):
    """The form of a new challenge."""

    slug = of_challenge("slug", "Short name", required=True)
    title = of_challenge("title", "Title", required=True)
    summary = of_challenge("summary", "Summary")
    contact = of_challenge("contact", "Contact")


class ClonePhaseForm(forms.Form):
    """The form to copy a phase."""

    slug = of_phase("slug", "Short name", required=True)
    title = of_phase("title", "Title")
    opens_at = of_phase("opens_at", "Opens")
    closes_at = of_phase("closes_at", "Closes")


class NewPhaseForm(ClonePhaseForm):
    """The form of a new phase with its ground truth."""

    track = of_phase("track", "Track", required=True)
    parameters = forms.CharField(
        required=False,
        max_length=2000,
        label="Parameters",
        help_text="One per line, such as group_of_weight: 0.5. If empty: those of the track.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    public = of_phase("split.public", "Public share")
    file = forms.FileField(
        label="Ground truth as a zip file",
        max_length=255,
        help_text="The files of the truth folder, at the top level or inside one folder. It may contain usage.csv, "
        "which assigns each image to a split; then leave the public share empty.",
        error_messages={"required": "Ground truth: choose a file.", "empty": "Ground truth: this file is empty."},
    )

    def clean_parameters(self) -> dict[str, Any]:
        try:
            found = yaml.safe_load(self.cleaned_data["parameters"]) or {}
        except yaml.YAMLError:
            found = None
        if not isinstance(found, dict):
            raise ValidationError("Parameters: expected lines of the form name: value.", code="bad_value")
        return found


class EditPhaseForm(PhaseForm):
    """The form of a phase: its dates, quota and feedback. What scores depend on is changed by imports."""

    title = of_phase("title", "Title", required=True)
    opens_at = of_phase("opens_at", "Opens")
    closes_at = of_phase("closes_at", "Closes")
    quota_per_day = of_phase("quota.per_day", "Submissions a day", required=True)
    quota_total = of_phase("quota.total", "Submissions in total")
    attempts_per_day = of_phase("quota.attempts_per_day", "Uploads a day", required=True)
    finals = of_phase("finals", "Final submissions", required=True)
    feedback = of_phase("feedback.scores", "Scores", required=True)
    feedback_decimals = of_phase("feedback.decimals", "Decimals")
    feedback_classes = of_phase("feedback.classes", "Results per class")
    ladder_standard_errors = of_phase("ladder.standard_errors", "Standard errors of the ladder")

    class Meta:
        model = Phase
        fields: ClassVar = [
            *("title", "opens_at", "closes_at", "quota_per_day", "quota_total", "attempts_per_day", "finals"),
            *("feedback", "feedback_decimals", "feedback_classes", "ladder_standard_errors"),
        ]
