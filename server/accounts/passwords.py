"""New passwords: Django's views, with a line in the audit log for each."""

from typing import Any

from django.contrib.auth import views
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from server.accounts import attempts
from server.accounts.services import record_password


class Forgotten(views.PasswordResetView):
    """Sends the link to set one anew; not many to one address, nor many from one."""

    def form_valid(self, form: Any) -> HttpResponse:
        attempts.limit(self.request, form.cleaned_data["email"])
        return super().form_valid(form)


class Change(views.PasswordChangeView):
    """By somebody who is logged in and knows the old one; whoever found the session open may not guess it."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if refusal := attempts.refusal(request, request.user.get_username()):
            raise refusal
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: Any) -> HttpResponse:
        attempts.count(self.request, form.user.get_username())
        return super().form_invalid(form)

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        record_password(user=form.user, by=form.user)
        return response


class SetAnew(views.PasswordResetConfirmView):
    """By whoever reads the mail of the account."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        record_password(user=form.user, by=form.user)
        return response
