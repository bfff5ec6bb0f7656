"""Accounts and API tokens in the Django admin. The secrets of tokens are not stored, so they cannot be shown."""

from typing import Any

from allauth.account.admin import EmailAddressAdmin as AllauthEmailAddressAdmin
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse

from server.accounts import two_factor
from server.accounts.adapter import AccountAdapter
from server.accounts.forms import NAME_TAKEN_MEANWHILE
from server.accounts.models import ApiToken, User
from server.accounts.services import confirm_address, confirm_own_address, record_password, revoke_token
from server.audit.admin import AuditedAdmin, ReadOnlyMixin
from server.audit.forms import AuditedForm
from server.clock import database_now
from server.errors import Refused

ROLES = ("is_active", "is_staff", "is_superuser")
# Django's groups are not used, because staff and superuser are the only roles.
admin.site.unregister(Group)
# Two-factor secrets and sessions are private to each user, so staff cannot view them in the admin.
admin.site.unregister([Authenticator, UserSession])
# `EmailAddressAdmin` below replaces django-allauth's admin, whose changes would not be in the audit log.
admin.site.unregister(EmailAddress)
PASSWORD_PAGE = "auth_user_password_change"


class UsernameForm(forms.ModelForm):
    """An admin form that checks a changed username against the sign-up rules."""

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if "username" not in self.changed_data:
            return name
        return AccountAdapter().clean_username(name, owner=self.instance)


class NewPersonForm(UsernameForm, AdminUserCreationForm):
    pass


class PersonForm(UsernameForm, AuditedForm, UserChangeForm):
    """The admin form for an account.

    Participants in a running challenge cannot become staff, because staff can read private scores.
    """

    def clean_is_staff(self) -> bool:
        is_staff = bool(self.cleaned_data["is_staff"])
        now = database_now()
        over = self.instance.memberships.filter(challenge__closes_at__lt=now)
        over = over.exclude(challenge__phases__extended_until__gte=now)
        member = self.instance.memberships.exclude(pk__in=over.values("pk")).first()
        if is_staff and not self.instance.is_staff and member is not None:
            raise ValidationError(
                f"Staff can read private leaderboards, but this person is in team {member.team} of "
                f"{member.challenge}, which is still running. Give the staff role to an account that is not in a "
                "team.",
                code="competes",
            )
        return is_staff


class NewPasswordForm(AdminPasswordChangeForm):
    """The admin form for setting a new password. It saves only the password field."""

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit=False)
        if commit:
            user.save(update_fields=["password"])
        return user


@admin.register(User)
class PersonAdmin(AuditedAdmin, UserAdmin):
    form = PersonForm
    add_form = NewPersonForm
    change_password_form = NewPasswordForm
    list_display = ("username", "email", "is_active", "is_staff", "date_joined", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser", "date_joined")
    logged_fields = ROLES
    fieldsets = (
        (None, {"fields": ("username", "password", "email", "first_name", "last_name", "shown")}),
        ("Roles", {"fields": ROLES}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")
    filter_horizontal = ()
    add_fieldsets = (
        (None, {"classes": ("wide",), "fields": ("username", "email", "usable_password", "password1", "password2")}),
    )

    actions = ("turn_off_two_factor",)

    @admin.action(description="Turn off two-factor authentication for the selected users", permissions=["change"])
    def turn_off_two_factor(self, request: HttpRequest, people: QuerySet[User]) -> None:
        for person in people:
            if two_factor.reset(user=person, by=request.user):
                messages.success(request, f"{person} can now log in with only a password.")
            else:
                messages.info(request, f"{person} does not use two-factor authentication.")

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        try:
            with transaction.atomic():
                super().save_model(request, obj, form, change)
        except IntegrityError:
            # An IntegrityError means that somebody else has taken the username since the form was checked.
            raise Refused("invalid", NAME_TAKEN_MEANWHILE) from None
        if isinstance(obj, User) and "email" in form.changed_data:
            confirm_own_address(obj)

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        return super().user_change_password(request, id, form_url)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """Write an entry to Django's admin log. If a password was changed, also write an entry to the audit log.

        For other changes, `save_model` writes the audit entry, but Django's page for changing passwords does not call
        `save_model`.
        """
        if isinstance(obj, User) and request.resolver_match and request.resolver_match.url_name == PASSWORD_PAGE:
            record_password(user=obj, by=request.user)
        return super().log_change(request, obj, message)


@admin.register(EmailAddress)
class EmailAddressAdmin(ReadOnlyMixin, AllauthEmailAddressAdmin):
    """The admin for email addresses. Staff can confirm an address if the confirmation email does not arrive."""

    actions = ("confirm",)

    @admin.action(description="Confirm the selected addresses", permissions=["view"])
    def confirm(self, request: HttpRequest, addresses: QuerySet[EmailAddress]) -> None:
        for address in addresses.select_related("user"):
            if confirm_address(address, by=request.user):
                messages.success(request, f"{address} is confirmed.")
            else:
                messages.error(request, f"{address} was not confirmed: another account has already confirmed it.")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyMixin, admin.ModelAdmin):
    list_display = ("start", "name", "user", "scope", "created_at", "expires_at", "last_used_at", "revoked_at")
    list_filter = ("scope", "created_at", "expires_at", "revoked_at")
    search_fields = ("start", "name", "user__username")
    exclude = ("sha256",)
    list_select_related = ("user",)
    actions = ("revoke",)

    @admin.action(description="Revoke the selected tokens", permissions=["view"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        for token in tokens:
            revoke_token(token=token, by=request.user)
        messages.success(request, f"{len(tokens)} tokens were revoked.")
