"""People and their tokens, for staff. A token's secret is nowhere to be seen, for it is nowhere kept."""

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from server.accounts.models import ApiToken, User
from server.accounts.services import revoke_token
from server.audit.admin import Audited, ReadOnly


@admin.register(User)
class PersonAdmin(Audited, UserAdmin):
    list_display = ("username", "email", "is_active", "is_staff", "date_joined", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser", "date_joined")
    add_fieldsets = (
        (None, {"classes": ("wide",), "fields": ("username", "email", "usable_password", "password1", "password2")}),
    )


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    list_display = ("start", "name", "user", "scope", "created_at", "expires_at", "last_used_at", "revoked_at")
    list_filter = ("scope", "created_at", "expires_at", "revoked_at")
    search_fields = ("start", "name", "user__username")
    exclude = ("sha256",)
    list_select_related = ("user",)
    actions = ("revoke",)

    @admin.action(description="Revoke the chosen tokens", permissions=["view"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        for token in tokens:
            revoke_token(token=token, by=request.user)
        messages.success(request, f"{len(tokens)} tokens no longer work.")
