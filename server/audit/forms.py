"""Form fields of the admin: single lines of text, dates, and rows selected by their keys."""

from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet

from server.clock import stored
from server.texts import one_line


def is_key(model: type[Model], text: str) -> bool:
    """Return whether a text is a valid primary key of this model, and small enough for the database to compare."""
    try:
        model._meta.pk.clean(text, None)
    except ValidationError:
        return False
    return True


class OneLineField(forms.CharField):
    """A single line of text, such as a title. Bundles follow the same rule."""

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        try:
            return one_line(text, self.max_length or len(text)) if text else text
        except ValueError as error:
            raise ValidationError(f"{error}".capitalize() + ".", code="invalid") from None


class DateTimeField(forms.SplitDateTimeField):
    """A date and time. Years that the form could not display again are refused."""

    def clean(self, value: Any) -> datetime | None:
        at: datetime | None = super().clean(value)
        try:
            return at and stored(at)
        except ValueError as error:
            raise ValidationError(f"{error}.", code="invalid") from None


class RowsField(forms.ModelMultipleChoiceField):
    """Selected rows. A number that is too large for a key causes an error message, not an exception."""

    queryset: QuerySet[Any]

    def clean(self, value: Any) -> Any:
        for key in value or ():
            if not is_key(self.queryset.model, key):
                raise ValidationError(self.error_messages["invalid_pk_value"], "invalid_pk_value", {"pk": key})
        return super().clean(value)
