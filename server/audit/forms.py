"""Form fields of the admin: texts of one line, dates, and rows that are chosen by their keys."""

from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet

from server.clock import stored
from server.texts import one_line


def is_key(model: type[Model], text: str) -> bool:
    """Whether a row could have this key: neither rubbish nor beyond what the database compares."""
    try:
        model._meta.pk.clean(text, None)
    except ValidationError:
        return False
    return True


class OneLine(forms.CharField):
    """A text such as a title, by the rule that bundles have."""

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        try:
            return one_line(text, self.max_length or len(text)) if text else text
        except ValueError as error:
            raise ValidationError(f"{error}".capitalize() + ".", code="invalid") from None


class Moment(forms.SplitDateTimeField):
    """A date and time that the form can show again."""

    def clean(self, value: Any) -> datetime | None:
        at: datetime | None = super().clean(value)
        try:
            return at and stored(at)
        except ValueError as error:
            raise ValidationError(f"{error}.", code="invalid") from None


class Rows(forms.ModelMultipleChoiceField):
    """Chosen rows, where Django would fail on a number that is too large for a key."""

    queryset: QuerySet[Any]

    def clean(self, value: Any) -> Any:
        for key in value or ():
            if not is_key(self.queryset.model, key):
                raise ValidationError(self.error_messages["invalid_pk_value"], "invalid_pk_value", {"pk": key})
        return super().clean(value)
