"""The audit log in the Django admin, and base classes that record changes made in the admin."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import models
from django.db.models import Model
from django.http import HttpRequest

from server.audit.forms import AuditedForm, DateTimeField, OneLineField, RowsField, is_key
from server.audit.models import Entry
from server.audit.services import readable_field, record


class SafeLookupMixin:
    """An admin mixin that responds to manipulated URLs and forms with an error message.

    Django itself would raise an exception.
    """

    model: type[Model]

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        return super().get_object(request, object_id, from_field or None)  # type: ignore[misc]

    def response_action(self, request: HttpRequest, *words: Any, **options: Any) -> Any:
        if all(is_key(self.model, key) for key in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            return super().response_action(request, *words, **options)  # type: ignore[misc]
        messages.error(
            request,
            "Nothing was changed, because a selected row no longer exists. Reload the list and select rows again.",
        )
        return None


class ReadOnlyMixin(SafeLookupMixin):
    """An admin mixin for models whose rows cannot be added, changed or deleted in the admin.

    It must be the first base class, so that its methods override those of `ModelAdmin`.
    """

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class AuditedAdmin(SafeLookupMixin, admin.ModelAdmin):
    """A base class for the admin of models whose rows staff may edit but not delete.

    Changes are recorded in the audit log.

    A row is locked before it is changed, and only the changed fields are written. `form` must be an `AuditedForm`,
    which does not overwrite a value that has changed since the page was opened. `locked_first` names a foreign key
    whose row is locked before this row, because all code locks rows in the same order. `logged_fields` names the fields
    whose old and new values are recorded; None means all of them.
    """

    logged_fields: tuple[str, ...] | None = None
    locked_first = ""
    form = AuditedForm
    formfield_overrides: ClassVar = {
        models.CharField: {"form_class": OneLineField},
        models.DateTimeField: {"form_class": DateTimeField},
        models.ManyToManyField: {"form_class": RowsField},
    }

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the object to edit, or None if there is none. For a POST request, lock its row and read it again."""
        row = super().get_object(request, object_id, from_field)
        return self.locked(row) if row is not None and request.method == "POST" else row

    def locked(self, row: Model) -> Model | None:
        if self.locked_first:
            first: Model = getattr(row, self.locked_first)
            type(first)._default_manager.select_for_update(no_key=True).filter(pk=first.pk).first()
        return self.model._default_manager.select_for_update(no_key=True).filter(pk=row.pk).first()

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        if change:
            obj.save(update_fields={one.name for one in obj._meta.concrete_fields}.intersection(form.changed_data))
        else:
            super().save_model(request, obj, form, change)
        record(
            actor=request.user,
            action=f"{obj._meta.model_name}.{'changed' if change else 'added'}",
            subject=f"{obj._meta.model_name} {obj.pk}",
            detail={"fields": sorted(form.changed_data), "values": self.values(form)},
        )

    def values(self, form: Any) -> dict[str, list[str]]:
        """Return the old and the new value of each changed field, as strings, for the audit log."""
        names = [name for name in form.changed_data if self.logged_fields is None or name in self.logged_fields]
        both = {name: (form.initial.get(name), form.cleaned_data[name]) for name in names}
        return {name: [readable_field(name, value) for value in values] for name, values in both.items()}


@admin.register(Entry)
class EntryAdmin(ReadOnlyMixin, admin.ModelAdmin):
    list_display = ("number", "at", "actor", "action", "subject")
    list_filter = ("action", "at")
    search_fields = ("actor_id", "actor_name", "subject")
    ordering = ("-number",)
