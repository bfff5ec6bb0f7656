"""Admin forms that detect changes since the page was opened, and form fields for lines, dates and selected rows."""

from datetime import datetime
from hashlib import sha256
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet

from evaluator.dates import stored
from evaluator.texts import one_line

CHANGED_MEANWHILE = (
    "This was changed after you opened the page, so nothing was saved. Open the page again to see the current value."
)


def is_key(model: type[Model], text: str) -> bool:
    """Return whether a string is a valid primary key of a model. A query with any other string could raise an error."""
    try:
        model._meta.pk.clean(text, None)
    except ValidationError:
        return False
    return True


class OneLineField(forms.CharField):
    """A form field for a single line of text, such as a title. The same rules apply to imported bundles."""

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        try:
            return one_line(text, self.max_length or len(text)) if text else text
        except ValueError as error:
            raise ValidationError(f"{error}".capitalize() + ".", code="invalid") from None


class DateTimeField(forms.SplitDateTimeField):
    """A form field for a date and time. It rejects dates that :func:`evaluator.dates.stored` rejects."""

    def clean(self, value: Any) -> datetime | None:
        at: datetime | None = super().clean(value)
        try:
            return at and stored(at)
        except ValueError as error:
            raise ValidationError(f"{error}.", code="invalid") from None


class RowsField(forms.ModelMultipleChoiceField):
    """A form field for selecting several rows.

    A number that is too large for a primary key results in an error message instead of an exception.
    """

    queryset: QuerySet[Any]

    def clean(self, value: Any) -> Any:
        for key in value or ():
            if not is_key(self.queryset.model, key):
                raise ValidationError(self.error_messages["invalid_pk_value"], "invalid_pk_value", {"pk": key})
        return super().clean(value)


class ShownValues(forms.CharField):
    """A hidden form field with a hash of each value that the page shows. Django never treats this field as changed."""

    widget = forms.HiddenInput

    def has_changed(self, initial: Any, data: Any) -> bool:
        return False


class AuditedForm(forms.ModelForm):
    """A form that does not overwrite a value that was changed after the page was opened.

    When the form is submitted, the row is locked, read again, and compared with the hashes in the field `shown`. A
    request without this field, for example from a script, is not checked.
    """

    shown = ShownValues(required=False)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.initial["shown"] = " ".join(self.hashes().values())

    def hashes(self) -> dict[str, str]:
        """Return a string `name=hash` for each editable field, with the hash of its current value, keyed by name."""
        return {
            one.name: f"{one.name}={sha256(text_of(one).encode()).hexdigest()}"
            for one in self
            if one.name != "shown" and not one.field.disabled
        }

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if shown := values.get("shown"):
            present = self.hashes()
            for name in self.changed_data:
                if present[name] not in shown.split():
                    self.add_error(name, ValidationError(CHANGED_MEANWHILE, code="changed_meanwhile"))
        return values


def text_of(field: forms.BoundField) -> str:
    """Return the current value of a form field as a string. Selected rows are represented by their primary keys."""
    value = field.field.prepare_value(field.initial)
    return " ".join(sorted(map(str, value))) if isinstance(value, list) else str(value)
