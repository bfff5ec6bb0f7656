"""The URLs below /accounts/. Pages of django-allauth that are not listed here are not available."""

from functools import partial
from typing import Any

from allauth.account import views as allauth
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from django.urls import URLPattern, path
from django.views.decorators.cache import never_cache

from server.accounts import security_views, views
from server.accounts.requests import FORM_METHODS

FORM = [method.lower() for method in FORM_METHODS]
READ = ["get", "head"]


def page(route: str, name: str, view: Any, *, methods: list[str] = FORM) -> URLPattern:
    return path(route, never_cache(view.as_view(http_method_names=methods)), name=f"account_{name}")


def two_factor(route: str, name: str, view: Any, *, methods: list[str] = FORM) -> URLPattern:
    return path(f"two-factor/{route}", never_cache(view.as_view(http_method_names=methods)), name=f"mfa_{name}")


read = partial(page, methods=READ)

urlpatterns: list[URLPattern] = [
    path("", views.account, name="account"),
    path("device", views.device, name="account_device"),
    path("profile", security_views.profile, name="account_profile"),
    path("security", security_views.security, name="mfa_index"),
    path("security/devices/<int:pk>/sign-out", security_views.device_sign_out, name="device_sign_out"),
    path("security/devices/sign-out", security_views.devices_sign_out, name="devices_sign_out"),
    two_factor("activate", "activate_totp", totp.ActivateTOTPView),
    two_factor("deactivate", "deactivate_totp", totp.DeactivateTOTPView),
    two_factor("codes", "view_recovery_codes", recovery_codes.ViewRecoveryCodesView, methods=READ),
    two_factor("codes/new", "generate_recovery_codes", recovery_codes.GenerateRecoveryCodesView),
    two_factor("codes/download", "download_recovery_codes", recovery_codes.DownloadRecoveryCodesView, methods=READ),
    two_factor("login", "authenticate", mfa.AuthenticateView),
    two_factor("confirm", "reauthenticate", mfa.ReauthenticateView),
    path("tokens", views.token_create, name="token_create"),
    path("tokens/<int:pk>/revoke", views.token_revoke, name="token_revoke"),
    page("signup", "signup", allauth.SignupView),
    page("login", "login", allauth.LoginView),
    page("logout", "logout", allauth.LogoutView, methods=["post"]),
    read("confirm", "email_verification_sent", allauth.EmailVerificationSentView),
    page("confirm/<str:key>", "confirm_email", views.ConfirmEmailView),
    page("again", "reauthenticate", allauth.ReauthenticateView),
    page("password", "change_password", allauth.PasswordChangeView),
    page("password/first", "set_password", allauth.PasswordSetView),
    page("password/forgotten", "reset_password", allauth.PasswordResetView),
    read("password/sent", "reset_password_done", allauth.PasswordResetDoneView),
    page("password/new/<str:uidb36>/<str:key>", "reset_password_from_key", allauth.PasswordResetFromKeyView),
    read("password/done", "reset_password_from_key_done", allauth.PasswordResetFromKeyDoneView),
]
