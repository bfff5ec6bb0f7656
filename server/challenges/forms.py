"""Admin forms for challenges, phases and teams.

They apply the same rules as imports of bundles. A change that ends a phase or reveals scores must be confirmed.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from evaluator.bundle.rules import (
    Violation,
    allowed_people,
    check_dates,
    check_feedback,
    check_numbers,
    mail_domains,
)
from server.accounts.names import all_looks
from server.audit.forms import AuditedForm
from server.challenges.models import LADDER_STANDARD_ERRORS, Challenge, Phase, Team
from server.challenges.roles import ARCHIVED
from server.challenges.services import JOINED, chosen_name, has_joined
from server.challenges.term_changes import Terms, consequences, refusals, terms_of
from server.clock import database_now
from server.errors import Refused


class ConfirmedForm(AuditedForm):
    """A form that requires a confirmation if a change would end a phase or reveal scores.

    To confirm, the user types the short name of the challenge or phase. `consequences` describes what the change would
    end or reveal.
    """

    confirm = forms.CharField(
        required=False,
        label="Confirm",
        help_text="Type the short name here only if your changes end a phase or show more of its scores.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    consequences: tuple[str, ...] = ()
    terms_before: Mapping[str, Terms]

    def edited(self) -> Any:
        """Return an unsaved copy of the model instance with the values that were changed in the form.

        Unchanged values are those in the database, because the form shows dates without fractions of a second.
        """
        one = copy(self.instance)
        for name in {field.name for field in one._meta.concrete_fields}.intersection(self.changed_data):
            setattr(one, name, self.cleaned_data[name])
        return one

    def refuse_archived(self, challenge: Challenge) -> None:
        if challenge.archived_at is not None:
            self.add_error(None, ValidationError(ARCHIVED, code="archived"))

    def check_terms(self, before: Mapping[str, Terms], after: Mapping[str, Terms], *, name: str) -> None:
        now, self.terms_before = database_now(), before
        for sentence in refusals(before, after, now):
            self.add_error(None, ValidationError(f"{sentence}.", code="revealed"))
        found = self.consequences = tuple(consequences(before, after, now))
        if found and self.cleaned_data.get("confirm", "").strip() != name:
            sentences = "; ".join(found)
            self.add_error(
                "confirm", ValidationError(f"{sentences}. To confirm, type {name} here.", code="unconfirmed")
            )

    def add_number_errors(self) -> None:
        for violation in check_numbers(self.cleaned_data):
            self.add_error(violation.field, ValidationError(violation.message, code=violation.code))


def dates_violated(phase: Phase, challenge: Challenge) -> Iterator[Violation]:
    """Return a violation for each date of a phase that contradicts another one, or a date of its challenge."""
    dates = {"freeze_at": phase.freeze_at, "start": challenge.opens_at, "end": challenge.closes_at}
    return check_dates(phase.opens_at, phase.closes_at, **dates)


class ChallengeForm(ConfirmedForm):
    """The admin form for a challenge. The dates are checked together with the dates of the challenge's phases."""

    def clean_allowed_domains(self) -> str:
        try:
            return mail_domains(self.cleaned_data["allowed_domains"].split())
        except ValueError as error:
            raise ValidationError(f"{error}.", code="invalid") from None

    def clean_allowed_people(self) -> str:
        try:
            return allowed_people(self.cleaned_data["allowed_people"].split())
        except ValueError as error:
            raise ValidationError(f"{error}.", code="invalid") from None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        self.refuse_archived(self.instance)
        self.add_number_errors()
        if self.errors:
            return values
        challenge = self.edited()
        if challenge.visibility == Challenge.Visibility.DRAFT != self.instance.visibility and has_joined(challenge):
            self.add_error("visibility", ValidationError(JOINED, code="change_refused"))
        before, after = terms_of(self.instance), {}
        for phase in Phase.objects.filter(challenge=self.instance):
            for violation in dates_violated(phase, challenge):
                sentence = f"Phase {phase.slug}: {violation.field} {violation.message}. Change the phase first."
                self.add_error(None, ValidationError(sentence, code=violation.code))
            phase.challenge = challenge
            after[phase.slug] = Terms.of(phase)
        self.check_terms(before, after, name=challenge.slug)
        return values


class PhaseForm(ConfirmedForm):
    """The admin form for a phase. The dates are checked together with the dates of the phase's challenge."""

    def clean_ladder_standard_errors(self) -> float:
        """Return the entered margin of ladder feedback or, if the field is empty, the default."""
        margin: float | None = self.cleaned_data["ladder_standard_errors"]
        return LADDER_STANDARD_ERRORS if margin is None else margin

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        self.refuse_archived(self.instance.challenge)
        self.add_number_errors()
        if self.errors:
            return values
        challenge = Challenge.objects.select_for_update(no_key=True).get(pk=self.instance.challenge_id)
        phase = self.edited()
        for violation in (
            *dates_violated(phase, challenge),
            *check_feedback(
                track=phase.track,
                feedback=phase.feedback,
                decimals=phase.feedback_decimals,
                classes=phase.feedback_classes,
                intervals=settings.INTERVAL_REPLICATES > 0,
            ),
        ):
            self.add_error(violation.field, ValidationError(violation.message, code=violation.code))
        before = terms_of(challenge)
        self.check_terms(before, {**before, phase.slug: Terms.of(phase)}, name=phase.slug)
        return values


class TeamForm(AuditedForm):
    """The admin form for a team.

    Renaming a team follows the same rules as naming a team when it is created.
    """

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if "name" not in self.changed_data:
            return name
        # The challenge is locked, so that nobody can join it with the same team name at the same time.
        Challenge.objects.select_for_update(no_key=True).get(pk=self.instance.challenge_id)
        others = Team.objects.filter(challenge=self.instance.challenge_id).exclude(pk=self.instance.pk)
        try:
            return chosen_name(name, all_looks(others.values_list("name", flat=True)))
        except Refused as refusal:
            raise ValidationError(refusal.detail, code="invalid") from None
