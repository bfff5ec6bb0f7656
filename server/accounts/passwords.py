"""New passwords: Django's views, with a line in the audit log for each."""

from typing import Any

from django.contrib.auth import views
from django.db import transaction
from django.http import HttpResponse

from server.accounts.services import record_password


class Change(views.PasswordChangeView):
    """By somebody who is logged in and knows the old one."""

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
