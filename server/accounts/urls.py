"""Addresses below /accounts/."""

from django.contrib.auth import views as auth
from django.urls import URLPattern, path

from server.accounts import passwords, views
from server.accounts.requests import READ_AND_SEND

FORM = {"http_method_names": [method.lower() for method in READ_AND_SEND]}
READ = {"http_method_names": ["get", "head"]}

urlpatterns: list[URLPattern] = [
    path("", views.account, name="account"),
    path("signup", views.signup, name="signup"),
    path("login", views.LogIn.as_view(**FORM), name="login"),
    path("logout", auth.LogoutView.as_view(), name="logout"),
    path("tokens", views.token_create, name="token_create"),
    path("tokens/<int:pk>/revoke", views.token_revoke, name="token_revoke"),
    path(
        "password",
        passwords.Change.as_view(template_name="accounts/password_change.html", success_url="/accounts/", **FORM),
        name="password_change",
    ),
    path(
        "password/forgotten",
        passwords.Forgotten.as_view(
            template_name="accounts/password_reset.html",
            email_template_name="accounts/password_reset_mail.txt",
            subject_template_name="accounts/password_reset_subject.txt",
            **FORM,
        ),
        name="password_reset",
    ),
    path(
        "password/sent",
        auth.PasswordResetDoneView.as_view(template_name="accounts/password_reset_sent.html", **READ),
        name="password_reset_done",
    ),
    path(
        "password/new/<uidb64>/<token>",
        passwords.SetAnew.as_view(template_name="accounts/password_new.html", **FORM),
        name="password_reset_confirm",
    ),
    path(
        "password/done",
        auth.PasswordResetCompleteView.as_view(template_name="accounts/password_done.html", **READ),
        name="password_reset_complete",
    ),
]
