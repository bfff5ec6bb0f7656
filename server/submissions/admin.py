"""Submissions in the admin. Staff can read submissions there but not edit them."""

from django.contrib import admin

from server.audit.admin import ReadOnlyMixin
from server.submissions.models import Evaluation, QuotaEntry, Score, Submission


class QuotaEntryInline(ReadOnlyMixin, admin.TabularInline):
    model = QuotaEntry
    extra = 0


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyMixin, admin.ModelAdmin):
    list_display = (
        *("file_name", "team", "phase", "status", "stage", "attempts", "host", "fault", "failure"),
        *("received_at", "finished_at"),
    )
    list_filter = ("status", "fault", "phase")
    list_select_related = ("team", "phase__challenge")
    search_fields = ("id", "file_name", "team__name", "sha256")
    date_hierarchy = "received_at"
    inlines = (QuotaEntryInline,)
    # The file is left out of the admin, because uploads have no URL and their storage names stay secret.
    exclude = ("file",)


class ScoreInline(ReadOnlyMixin, admin.TabularInline):
    model = Score
    extra = 0


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyMixin, admin.ModelAdmin):
    list_display = ("submission", "signature", "cpu_seconds", "created_at")
    list_select_related = ("submission",)
    search_fields = ("submission__id", "signature")
    inlines = (ScoreInline,)


@admin.register(QuotaEntry)
class QuotaEntryAdmin(ReadOnlyMixin, admin.ModelAdmin):
    list_display = ("team", "phase", "day", "amount", "reason", "at", "submission")
    list_filter = ("phase", "reason", "day")
    list_select_related = ("team", "phase__challenge", "submission")
    search_fields = ("team__name", "submission__id")
