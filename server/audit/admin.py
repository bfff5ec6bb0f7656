"""The audit log in the admin, to read; and how the admin's own changes get into it."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db import models
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from server.audit.forms import Moment, OneLine, Rows, is_key
from server.audit.models import Entry
from server.audit.services import record

VALUE_CHARACTERS = 200


class Found:
    """Finds rows by their key, where Django would fail on an address or a form that nobody gets from a page."""

    model: type[Model]

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        return super().get_object(request, object_id, from_field or None)  # type: ignore[misc]

    def response_action(self, request: HttpRequest, *words: Any, **options: Any) -> Any:
        if all(is_key(self.model, key) for key in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            return super().response_action(request, *words, **options)  # type: ignore[misc]
        messages.error(request, "Nothing was done: there is no such row. Choose rows of the list.")
        return None


class ReadOnly(Found):
    """Ledgers, logs and what only services write: nobody adds, changes or deletes a line by hand. Stands first."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def in_words(value: Any) -> str:
    """Write the beginning of a value as one reads it; several, such as people, by their names."""
    words = ", ".join(sorted(map(str, value))) if isinstance(value, list | QuerySet) else str(value)
    return words[:VALUE_CHARACTERS]


class Audited(Found, admin.ModelAdmin):
    """Rows that staff may edit: every change is logged, and nothing is deleted, for half the site hangs on it.

    `told` names the fields whose old and new values stand in the log; None: all of them.
    """

    told: tuple[str, ...] | None = None
    formfield_overrides: ClassVar = {
        models.CharField: {"form_class": OneLine},
        models.DateTimeField: {"form_class": Moment},
        models.ManyToManyField: {"form_class": Rows},
    }

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        record(
            actor=request.user,
            action=f"{obj._meta.model_name}.{'changed' if change else 'added'}",
            subject=f"{obj._meta.model_name} {obj.pk}",
            detail={"fields": sorted(form.changed_data), "values": self.values(form)},
        )

    def values(self, form: Any) -> dict[str, list[str]]:
        """Old and new value of what was changed, in words."""
        names = [name for name in form.changed_data if self.told is None or name in self.told]
        return {name: [in_words(form.initial.get(name)), in_words(form.cleaned_data[name])] for name in names}


@admin.register(Entry)
class EntryAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("number", "at", "actor_name", "action", "subject")
    list_filter = ("action", "at")
    search_fields = ("actor_name", "subject")
    ordering = ("-number",)
