"""Adapts django-allauth to this service: usernames, client addresses, links in mails, limits, and audit entries."""

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

from server.accounts.models import User
from server.accounts.names import BadName, clean_name, refuse_look_alike, same_name
from server.accounts.requests import client_network, is_local
from server.accounts.services import record_password
from server.audit.services import record
from server.errors import Refused

NAME_CHARACTERS = 150
log = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):
    error_messages: ClassVar = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "The username or the password is wrong.",
    }

    def is_ajax(self, request: HttpRequest) -> bool:
        """Return False, so that forms are always answered with HTML pages; they have no JSON variant."""
        return False

    def is_safe_url(self, url: str) -> bool:
        return is_local(url)

    def get_client_ip(self, request: HttpRequest) -> str:
        return client_network(request)

    def clean_username(self, username: str, shallow: bool = False, owner: User | None = None) -> str:
        """Return a username as it is stored. `owner` is the account that changes its name.

        Raises ValidationError for invalid names and, unless `shallow`, for names that look like an existing username.
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
        """Return the cache key under which wrong passwords are counted, from the username and the client's address.

        If they were counted by username only, a stranger could lock out the owner of an account.
        """
        return f"{client_network(request)} {same_name(credentials.get('username', ''))}"

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the attempt before the password is checked. Raises Refused with status 429 after too many."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            raise Refused("rate_limited", "Too many failed attempts to log in. Try again in a minute.") from None

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        raise Refused("forbidden", "This account was deactivated. Contact the operator of this service.")

    def respond_email_verification_sent(self, request: HttpRequest, user: User | None) -> HttpResponse | None:
        """Log in accounts without an email address, such as superusers from a command; they have nothing to confirm."""
        if user and not user.email:
            return None
        sent: HttpResponse = super().respond_email_verification_sent(request, user)
        return sent

    def set_password(self, user: User, password: str) -> None:
        with transaction.atomic():
            user.set_password(password)
            user.save(update_fields=["password"])  # no other fields, because staff may be changing the account
            record_password(user=user, by=user)

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        try:
            with transaction.atomic():
                confirmed: bool = super().confirm_email(request, email_address)
                if confirmed:
                    owner = email_address.user
                    record(actor=owner, action="user.email_confirmed", subject=f"user {owner.pk}")
        except IntegrityError:  # another account confirmed the address at the same time
            return False
        return confirmed

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Send the confirmation mail. Only the mail reveals whether another account has confirmed the address."""
        address = emailconfirmation.email_address
        if address.can_set_verified():
            super().send_confirmation_mail(request, emailconfirmation, signup)
        else:
            self.send_account_already_exists_mail(address.email)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links start with PODIUM_URL, never with the host of the request.

        Errors of the mail server are only logged: a different response would reveal which accounts exist.
        """
        url = settings.PODIUM_URL.rstrip("/")
        try:
            super().send_mail(
                template_prefix, email, {**context, "podium_url": url, "podium_host": urlsplit(url).netloc}
            )
        except OSError:
            log.exception("a mail could not be sent: %s", template_prefix)
