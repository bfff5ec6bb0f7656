"""Adapts django-allauth to this server: usernames, client addresses, links in emails, limits and audit entries."""

import logging
from typing import Any, ClassVar
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from evaluator.texts import BadName, clean_name
from server.accounts.models import User
from server.accounts.names import refuse_look_alike, same_name
from server.accounts.requests import client_network, is_local
from server.accounts.services import record_password
from server.audit.services import record
from server.errors import Refused

NAME_CHARACTERS = 150
log = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):
    error_messages: ClassVar = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "The username or password is incorrect.",
    }

    def is_ajax(self, request: HttpRequest) -> bool:
        """Return False, so that django-allauth responds to forms with HTML pages, never with JSON."""
        return False

    def is_safe_url(self, url: str) -> bool:
        return is_local(url)

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_network(request)

    def clean_username(self, username: str, shallow: bool = False, owner: User | None = None) -> str:
        """Return the normalized form of a username, as it is stored in the database.

        `owner` is the account to rename, or None for a new account. Raises ValidationError if the name is invalid or,
        unless `shallow` is true, looks like an existing username.
        """
        try:
            name: str = super().clean_username(clean_name(username, NAME_CHARACTERS), shallow=True)
            if not shallow:
                others = User.objects.exclude(pk=owner.pk) if owner and owner.pk else User.objects.all()
                refuse_look_alike(name, others.values_list("username", flat=True).iterator())
        except BadName as error:
            raise ValidationError(str(error)) from None
        return name

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Return the cache key for counting failed logins. It contains the client's network and the username.

        If the key contained only the username, anybody could lock the owner out of the account.
        """
        return f"{client_network(request)} {same_name(credentials.get('username', ''))}"

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count a login attempt before its password is checked.

        Raises Refused with status 429 after too many attempts.
        """
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            raise Refused("rate_limited", "Too many failed login attempts. Try again in a minute.") from None

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        raise Refused("forbidden", "This account is deactivated. Contact the operator of this service.")

    def respond_email_verification_sent(self, request: HttpRequest, user: User | None) -> HttpResponse | None:
        """Continue the login if the account has no email address. Otherwise, ask the user to confirm the address.

        A superuser created on the command line may have no email address.
        """
        if user and not user.email:
            return None
        sent: HttpResponse = super().respond_email_verification_sent(request, user)
        return sent

    def set_password(self, user: User, password: str) -> None:
        with transaction.atomic():
            user.set_password(password)
            # Only the password is saved, because staff may be changing other fields at the same time.
            user.save(update_fields=["password"])
            # A password change invalidates device logins (programs' requests for API tokens) that were approved
            # earlier, so that the programs can no longer fetch their tokens.
            user.device_logins.all().delete()
            record_password(user=user, by=user)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        try:
            with transaction.atomic():
                confirmed: bool = super().confirm_email(request, email_address)
                if confirmed:
                    owner = email_address.user
                    record(actor=owner, action="user.email_confirmed", subject=f"user {owner.pk}")
        except IntegrityError:
            # An IntegrityError means that another account has confirmed the same email address in the meantime.
            return False
        return confirmed

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Send a confirmation email, or an email explaining that another account has already confirmed the address.

        The response is the same in both cases, so only the owner of the address learns whether such an account exists.
        """
        address = emailconfirmation.email_address
        if address.can_set_verified():
            super().send_confirmation_mail(request, emailconfirmation, signup)
        else:
            self.send_account_already_exists_mail(address.email)

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Return the methods that a user can use to re-authenticate before a sensitive change.

        If two-factor authentication is on, a password is not enough.
        """
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        by_code = [method for method in methods if method["id"] == "mfa_reauthenticate"]
        return by_code or methods

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send an email in which all links start with PODIUM_URL instead of the host name in the request.

        Mail server errors are only logged, because an error page would reveal which accounts exist.
        """
        url = settings.PODIUM_URL.rstrip("/")
        try:
            super().send_mail(
                template_prefix, email, {**context, "podium_url": url, "podium_host": urlsplit(url).netloc}
            )
        except OSError:
            log.exception("could not send an email: %s", template_prefix)
