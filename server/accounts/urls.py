"""Addresses below /accounts/."""

from django.contrib.auth import views as auth
from django.urls import URLPattern, path

from server.accounts import passwords, views

urlpatterns: list[URLPattern] = [
    path("", views.account, name="account"),
    path("signup", views.signup, name="signup"),
    path("login", views.LogIn.as_view(), name="login"),
    path("logout", auth.LogoutView.as_view(), name="logout"),
    path("tokens", views.token_create, name="token_create"),
    path("tokens/<int:pk>/revoke", views.token_revoke, name="token_revoke"),
    path(
        "password",
        passwords.Change.as_view(template_name="accounts/password_change.html", success_url="/accounts/"),
        name="password_change",
    ),
    path(
        "password/forgotten",
        auth.PasswordResetView.as_view(
            template_name="accounts/password_reset.html",
            email_template_name="accounts/password_reset_mail.txt",
            subject_template_name="accounts/password_reset_subject.txt",
        ),
        name="password_reset",
    ),
    path(
        "password/sent",
        auth.PasswordResetDoneView.as_view(template_name="accounts/password_reset_sent.html"),
        name="password_reset_done",
    ),
    path(
        "password/new/<uidb64>/<token>",
        passwords.SetAnew.as_view(template_name="accounts/password_new.html"),
        name="password_reset_confirm",
    ),
    path(
        "password/done",
        auth.PasswordResetCompleteView.as_view(template_name="accounts/password_done.html"),
        name="password_reset_complete",
    ),
]
