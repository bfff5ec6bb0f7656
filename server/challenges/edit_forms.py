"""Forms for editing a challenge and its phases on the website. Imported bundles must follow the same rules."""

from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

from evaluator.bundle import InvalidBundle
from evaluator.bundle.keys import CHALLENGE, PHASE, Key
from evaluator.bundle.reading import read_parameters
from evaluator.bundle.rules import check_opening
from evaluator.bundle.values import Moment
from evaluator.problems import Problem
from server.challenges.forms import ChallengeForm, PhaseForm
from server.challenges.key_fields import KeyField, TextField, find_key
from server.challenges.models import Challenge, Phase

TEXTS = ("description", "rules", "data")
DRAFT = Challenge.Visibility.DRAFT


def of_challenge(path: str, label: str, *, required: bool = False) -> KeyField:
    return KeyField(find_key(CHALLENGE, path), label=label, required=required)


def of_phase(path: str, label: str, *, required: bool = False) -> KeyField:
    return KeyField(find_key(PHASE, path), label=label, required=required)


class EditChallengeForm(ChallengeForm):
    """The form for editing a challenge: its texts, its dates, and the rules for joining it."""

    title = of_challenge("title", "Title", required=True)
    summary = of_challenge("summary", "Summary")
    contact = of_challenge("contact", "Contact")
    description = TextField(label="Description")
    rules = TextField(label="Rules")
    data = TextField(label="Data")  # type: ignore[assignment]  # the metaclass moves the fields out of the class
    visibility = of_challenge("visibility", "Visibility", required=True)
    opens_at = of_challenge("opens_at", "Opens", required=True)
    closes_at = of_challenge("closes_at", "Closes")
    join_until = of_challenge("join_until", "Registration closes")
    registration = of_challenge("registration", "Registration", required=True)
    allowed_domains = of_challenge("allow", "Email domains")
    allowed_people = of_challenge("allow_people", "Allowed people")
    team_max_size = of_challenge("teams.max_size", "Maximum team size", required=True)
    merge_until = of_challenge("teams.merge_until", "Deadline for team changes")

    class Meta:
        model = Challenge
        fields: ClassVar = [
            *("title", "summary", "contact", *TEXTS, "opens_at", "closes_at", "join_until", "merge_until"),
            *("visibility", "registration", "allowed_domains", "allowed_people", "team_max_size"),
        ]

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if violation := check_opening(given.get("opens_at"), given.get("closes_at")):
            self.add_error(violation.field, ValidationError(f"Closes: {violation.message}.", code=violation.code))
        self.check_draft(given.get("visibility"))
        if self.initial["contact"] and not given.get("contact") and self.initial["visibility"] != DRAFT:
            message = "Contact: a published challenge needs an address for participants' questions. Enter one."
            self.add_error("contact", ValidationError(message, code="required"))
        return super().clean()

    def check_draft(self, visibility: str | None) -> None:
        """Add an error if the form would publish a draft or turn a challenge back into a draft."""
        if visibility and (visibility == DRAFT) != (self.initial["visibility"] == DRAFT):
            message = "Visibility: to publish the challenge or return it to draft, use its Organize page."
            self.add_error("visibility", ValidationError(message, code="draft"))


class NewChallengeForm(forms.Form):
    """The form for creating a challenge."""

    slug = of_challenge("slug", "Short name", required=True)
    title = of_challenge("title", "Title", required=True)
    summary = of_challenge("summary", "Summary")
    contact = of_challenge("contact", "Contact")


class CloneChallengeForm(forms.Form):
    """The form for copying a challenge."""

    slug = of_challenge("slug", "Short name", required=True)
    title = of_challenge("title", "Title", required=True)


class ScheduleForm(forms.Form):
    """The form for scheduling the publication of a draft."""

    # The browser must allow an empty time, because the same HTML form has a button that publishes the draft
    # immediately.
    use_required_attribute = False

    at = KeyField(
        Key("at", Moment(), "When the draft is published.", "2026-01-01T00:00:00Z"), label="Time", required=True
    )


class ClonePhaseForm(forms.Form):
    """The form for copying a phase."""

    slug = of_phase("slug", "Short name", required=True)
    title = of_phase("title", "Title")
    opens_at = of_phase("opens_at", "Opens")
    closes_at = of_phase("closes_at", "Closes")


class NewPhaseForm(ClonePhaseForm):
    """The form for adding a phase with its ground truth."""

    track = of_phase("track", "Track", required=True)
    parameters = forms.CharField(
        required=False,
        max_length=2000,
        label="Parameters",
        help_text="One parameter per line, such as group_of_weight: 0.5. If empty, the track's defaults are used.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    public = of_phase("split.public", "Public share")
    file = forms.FileField(
        label="Ground truth as a zip file",
        max_length=255,
        help_text="A zip file with the files of the truth folder, at the top level or inside a single folder. If it "
        "contains a usage.csv, which assigns each image to a split, leave the public share empty.",
        error_messages={"required": "Ground truth: choose a file.", "empty": "Ground truth: this file is empty."},
    )

    def clean_parameters(self) -> dict[str, str | list[str]]:
        """Return the parameters as texts, because a value must mean the same here as in challenge.yaml."""
        try:
            return read_parameters(self.cleaned_data["parameters"])
        except InvalidBundle as error:
            raise ValidationError([parameter_error(one) for one in error.problems]) from None


def parameter_error(problem: Problem) -> ValidationError:
    """Return a problem of the field for the parameters of a track as an error of the form."""
    line = f", line {problem.line}" if problem.line else ""
    name = f"{problem.column}: " if problem.column else ""
    return ValidationError(f"Parameters{line}: {name}{problem.message}.".replace("`", ""), code=problem.code)


class EditPhaseForm(PhaseForm):
    """The form for editing a phase: its dates, its quota and its feedback.

    Settings that affect scores can be changed only by importing a bundle.
    """

    title = of_phase("title", "Title", required=True)
    opens_at = of_phase("opens_at", "Opens")
    closes_at = of_phase("closes_at", "Closes")
    freeze_at = of_phase("freeze_at", "Leaderboard freezes")
    reveal = of_phase("reveal", "Private scores", required=True)
    quota_per_day = of_phase("quota.per_day", "Submissions per day", required=True)
    quota_total = of_phase("quota.total", "Submissions in total")
    attempts_per_day = of_phase("quota.attempts_per_day", "Uploads per day", required=True)
    finals = of_phase("finals", "Final submissions", required=True)
    feedback = of_phase("feedback.scores", "Scores", required=True)
    feedback_decimals = of_phase("feedback.decimals", "Decimals")
    feedback_classes = of_phase("feedback.classes", "Results per class")
    ladder_standard_errors = of_phase("ladder.standard_errors", "Ladder margin in standard errors")

    class Meta:
        model = Phase
        fields: ClassVar = [
            *("title", "opens_at", "closes_at", "freeze_at", "reveal"),
            *("quota_per_day", "quota_total", "attempts_per_day", "finals"),
            *("feedback", "feedback_decimals", "feedback_classes", "ladder_standard_errors"),
        ]
