"""Signing up, logging in, and what a person's account holds."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from server.accounts import attempts
from server.accounts.forms import LogInForm, SignUpForm, TokenForm
from server.accounts.models import ApiToken
from server.accounts.registration import sign_up
from server.accounts.requests import READ_AND_SEND, PersonRequest
from server.accounts.services import issue_token, revoke_token
from server.clock import database_now
from server.errors import Refused

UNPROCESSABLE = 422
NEW_TOKEN, NEW_TOKEN_SECONDS = "new_token", 60  # the cookie that carries a secret to the one page that shows it


class LogIn(views.LoginView):
    """Django's, with the contract's limit on wrong passwords."""

    template_name = "accounts/login.html"
    authentication_form = LogInForm
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if refusal := attempts.refusal(request, request.POST.get("username", "")):
            context = self.get_context_data(form=self.get_form_class()(), refusal=refusal)
            return self.render_to_response(context, status=refusal.status, headers=refusal.headers)
        return super().post(request, *args, **kwargs)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        attempts.count(self.request, form.data.get("username", ""))
        return super().form_invalid(form)


@require_http_methods(READ_AND_SEND)
@never_cache
@sensitive_post_parameters("password")
def signup(request: HttpRequest) -> HttpResponse:
    target = wanted(request)
    if request.user.is_authenticated:
        return redirect(target)
    form = SignUpForm(request.POST or None)
    if request.method == "POST":
        attempts.limit(request, form.data.get("username", ""))
    if not form.is_valid():
        status = UNPROCESSABLE if request.method == "POST" else 200
        return render(request, "accounts/signup.html", {"form": form, "next": target}, status=status)
    try:
        user = sign_up(**form.cleaned_data)
    except IntegrityError:  # somebody else took the name or the address between the check and the row
        form.add_error(None, "This name or address was taken just now. Choose another one.")
        return render(request, "accounts/signup.html", {"form": form, "next": target}, status=UNPROCESSABLE)
    login(request, user)
    messages.success(request, f"Welcome, {user.get_username()}. You are logged in.")
    return redirect(target)


def wanted(request: HttpRequest) -> str:
    """Where the person was going; never to another site."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    here = url_has_allowed_host_and_scheme(
        target, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return target if here else reverse("home")


@never_cache
@require_safe
@login_required
def account(request: PersonRequest) -> HttpResponse:
    """The secret of a token made just now is shown this once: the answer takes its cookie away."""
    secret = request.get_signed_cookie(NEW_TOKEN, "", salt=salt_of(request), max_age=NEW_TOKEN_SECONDS)
    response = show_account(request, TokenForm(), secret=secret or "")
    response.delete_cookie(NEW_TOKEN, path=reverse("account"))
    return response


def salt_of(request: PersonRequest) -> str:
    """Make sure that nobody who logs in after them reads another's token."""
    return f"{NEW_TOKEN} {request.user.pk}"


def show_account(
    request: PersonRequest, form: TokenForm, *, secret: str = "", refusal: Refused | None = None
) -> HttpResponse:
    now = database_now()
    context = {
        "now": now,
        "form": form,
        "secret": secret,
        "refusal": refusal,
        "tokens": ApiToken.objects.filter(user=request.user).usable(now),
        "memberships": request.user.memberships.select_related("team", "challenge").order_by("-joined_at"),
    }
    return render(request, "accounts/account.html", context, status=refusal.status if refusal else 200)


@never_cache
@require_POST
@login_required
def token_create(request: PersonRequest) -> HttpResponse:
    """Make a token and go to the page that shows its secret, so that reloading that makes no second one.

    The browser takes the secret there; here it is kept nowhere.
    """
    form = TokenForm(request.POST)
    if not form.is_valid():
        return show_account(request, form, refusal=Refused("invalid", "Mend what is marked below, then try again."))
    try:
        _, secret = issue_token(user=request.user, **form.cleaned_data)
    except Refused as refusal:
        return show_account(request, form, refusal=refusal)
    response = redirect("account")
    about = {"max_age": NEW_TOKEN_SECONDS, "path": reverse("account"), "secure": settings.HTTPS, "httponly": True}
    response.set_signed_cookie(NEW_TOKEN, secret, salt=salt_of(request), samesite="Strict", **about)
    return response


@require_POST
@login_required
def token_revoke(request: PersonRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, user=request.user)
    revoke_token(token=token, by=request.user)
    messages.success(request, f"The token {token.name} is revoked. Programs that use it are locked out now.")
    return redirect("account")
