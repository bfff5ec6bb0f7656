"""Challenges, phases, ground truths, teams and members in the Django admin.

Staff can edit dates and quotas here. Fields that affect scores are read-only. Challenges and ground truths cannot be
created here. No admin page shows or links to the files of a ground truth.
"""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from server.accounts.models import User
from server.audit.admin import AuditedAdmin, ReadOnlyMixin
from server.challenges import approval
from server.challenges.feedback_leakage import PER_CLASS, leakage_text
from server.challenges.forms import ChallengeForm, PhaseForm, TeamForm
from server.challenges.models import Challenge, JoinRequest, Membership, Phase, Team, Truth
from server.challenges.term_changes import delay_reveals
from server.clock import database_now


class ImportedAdmin(AuditedAdmin):
    """A base class for the admin of models whose instances cannot be added in the admin."""

    def has_add_permission(self, request: object, obj: object = None) -> bool:
        return False


class DelayedAdmin(ImportedAdmin):
    """A base class for the admin of models whose changes can reveal private scores.

    The scores are revealed after a delay, so that the change can be undone in the meantime.
    """

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        delay_reveals(form.terms_before, obj if isinstance(obj, Challenge) else obj.challenge, database_now())


@admin.register(Challenge)
class ChallengeAdmin(DelayedAdmin):
    form = ChallengeForm
    list_display = ("title", "slug", "visibility", "opens_at", "closes_at", "join_until")
    list_filter = ("visibility", "opens_at", "closes_at")
    search_fields = ("title", "slug")
    readonly_fields = ("slug", "created_at")


@admin.register(Phase)
class PhaseAdmin(DelayedAdmin):
    form = PhaseForm
    locked_first = "challenge"
    list_display = ("title", "challenge", "track", "opens_at", "closes_at", "quota_per_day", "quota_total", "feedback")
    list_filter = ("track", "feedback", "challenge")
    list_select_related = ("challenge",)
    search_fields = ("title", "slug", "challenge__slug")
    readonly_fields = (
        *("challenge", "slug", "track", "parameters", "public_share", "split_seed", "signature", "revealed_at"),
        *("reveal", "reveals_at"),
        "reveals",
    )
    exclude = ("sample_submission", "candidates", "salt")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        return super().get_form(request, obj, change, help_texts={"feedback_classes": PER_CLASS}, **options)

    @admin.display(description="reveals")
    def reveals(self, phase: Phase) -> str:
        return leakage_text(phase)


@admin.register(Truth)
class TruthAdmin(ReadOnlyMixin, admin.ModelAdmin):
    list_display = ("phase", "version", "active", "images", "sha256", "created_at")
    list_filter = ("active", "phase__challenge", "created_at")
    list_select_related = ("phase__challenge",)
    exclude = ("prepared", "source", "kit")


@admin.register(Team)
class TeamAdmin(ImportedAdmin):
    form = TeamForm
    locked_first = "challenge"
    # The values of team fields are not written to the audit log, because a team's name can be a person's name.
    logged_fields = ()
    list_display = ("name", "challenge", "is_baseline", "created_at")
    list_filter = ("is_baseline", "challenge")
    list_select_related = ("challenge",)
    search_fields = ("name", "challenge__slug")
    readonly_fields = ("challenge", "is_baseline", "created_at", "disqualified_at", "disqualification_reason")
    exclude = ("disqualification_is_shown",)


@admin.register(Membership)
class MembershipAdmin(ReadOnlyMixin, admin.ModelAdmin):
    list_display = ("user", "team", "challenge", "is_captain", "rules_accepted_at", "joined_at")
    list_filter = ("challenge", "is_captain", "joined_at")
    list_select_related = ("user", "team", "challenge")
    search_fields = ("user__username", "team__name", "challenge__slug")


@admin.register(JoinRequest)
class JoinRequestAdmin(ReadOnlyMixin, admin.ModelAdmin):
    list_display = ("user", "challenge", "team_name", "status", "requested_at")
    list_filter = ("status", "challenge", "requested_at")
    list_select_related = ("user", "challenge")
    search_fields = ("user__username", "challenge__slug")
    actions = ("approve", "decline")

    @admin.action(description="Approve the selected requests", permissions=["view"])
    def approve(self, request: HttpRequest, chosen: QuerySet[JoinRequest]) -> None:
        for one, refusal in approval.decide_each(approval.approve, chosen, by=staff(request)):
            if refusal is None:
                messages.success(request, f"{one.user} joined {one.challenge}.")
            else:
                messages.error(request, f"{one.user} did not join {one.challenge}: {refusal.detail}")

    @admin.action(description="Decline the selected requests", permissions=["view"])
    def decline(self, request: HttpRequest, chosen: QuerySet[JoinRequest]) -> None:
        for one, refusal in approval.decide_each(approval.decline, chosen, by=staff(request)):
            name = f"The request from {one.user} to join {one.challenge}"
            if refusal is None:
                messages.success(request, f"{name} was declined.")
            else:
                messages.error(request, f"{name} was not declined: {refusal.detail}")


def staff(request: HttpRequest) -> User:
    # Only logged-in users can open the admin, so the user is never anonymous.
    assert isinstance(request.user, User)
    return request.user
