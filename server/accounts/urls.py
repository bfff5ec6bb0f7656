"""URLs below /accounts/. Pages of django-allauth that are not listed here are not available."""

from functools import partial
from typing import Any

from allauth.account import views as allauth
from django.urls import URLPattern, path
from django.views.decorators.cache import never_cache

from server.accounts import views
from server.accounts.requests import FORM_METHODS

FORM = [method.lower() for method in FORM_METHODS]
READ = ["get", "head"]


def page(route: str, name: str, view: Any, *, methods: list[str] = FORM) -> URLPattern:
    return path(route, never_cache(view.as_view(http_method_names=methods)), name=f"account_{name}")


read = partial(page, methods=READ)

urlpatterns: list[URLPattern] = [
    path("", views.account, name="account"),
    path("tokens", views.token_create, name="token_create"),
    path("tokens/<int:pk>/revoke", views.token_revoke, name="token_revoke"),
    page("signup", "signup", allauth.SignupView),
    page("login", "login", allauth.LoginView),
    page("logout", "logout", allauth.LogoutView, methods=["post"]),
    read("confirm", "email_verification_sent", allauth.EmailVerificationSentView),
    page("confirm/<str:key>", "confirm_email", allauth.ConfirmEmailView),
    page("password", "change_password", allauth.PasswordChangeView),
    page("password/first", "set_password", allauth.PasswordSetView),
    page("password/forgotten", "reset_password", allauth.PasswordResetView),
    read("password/sent", "reset_password_done", allauth.PasswordResetDoneView),
    page("password/new/<str:uidb36>/<str:key>", "reset_password_from_key", allauth.PasswordResetFromKeyView),
    read("password/done", "reset_password_from_key_done", allauth.PasswordResetFromKeyDoneView),
]
