"""The account page with API tokens.

The pages for sign-up, login and passwords use django-allauth's views with the templates of this project.
"""

from typing import Any

from allauth.account.models import get_emailconfirmation_model
from allauth.account.stages import EmailVerificationStage, LoginStageController
from allauth.account.views import ConfirmEmailView as AllauthConfirmEmailView
from allauth.core import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from server.accounts import device_logins
from server.accounts.forms import TokenForm
from server.accounts.models import ApiToken
from server.accounts.requests import FORM_METHODS, PersonRequest
from server.accounts.services import issue_token, revoke_token
from server.clock import database_now
from server.errors import Refused

# A cookie named `new_token` carries the secret of a new API token to the page that shows it. It is valid for 60
# seconds.
NEW_TOKEN, NEW_TOKEN_SECONDS = "new_token", 60


class ConfirmEmailView(AllauthConfirmEmailView):
    """The view that confirms an email address after its owner has opened the link in an email.

    In the browser that signed up, opening the link is enough. In any other browser, the page has a button to confirm,
    because virus scanners also open the links in emails.
    """

    def get(self, *args: Any, **options: Any) -> HttpResponse:
        stage = LoginStageController.enter(self.request, EmailVerificationStage.key)
        confirmation = get_emailconfirmation_model().from_key(self.kwargs["key"])
        if stage and confirmation and stage.login.user.pk == confirmation.email_address.user_id:
            return self.post(*args, **options)
        return super().get(*args, **options)


def rate_limited(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Raise Refused for a request that has exceeded one of django-allauth's rate limits."""
    raise Refused("rate_limited", "Too many attempts from your network or for this account. Try again in a minute.")


@never_cache
@require_safe
@login_required
def account(request: PersonRequest) -> HttpResponse:
    """Show the account page, which lists the user's API tokens.

    The secret of a new token is shown only once, because the response deletes the cookie that contains the secret.
    """
    secret = request.get_signed_cookie(NEW_TOKEN, "", salt=salt_of(request), max_age=NEW_TOKEN_SECONDS)
    response = show_account(request, TokenForm(), secret=secret or "")
    response.delete_cookie(NEW_TOKEN, path=reverse("account"))
    return response


def salt_of(request: PersonRequest) -> str:
    """Return the salt for signing the cookie that contains the secret of a new token.

    The salt depends on the user, so that another user of the same browser cannot see the secret.
    """
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
    return render(request, "account/overview.html", context, status=refusal.status if refusal else 200)


@never_cache
@require_POST
@login_required
def token_create(request: PersonRequest) -> HttpResponse:
    """Create an API token, and redirect to the account page, which shows the secret of the token.

    Because of the redirect, reloading the page does not create another token. The secret is sent in a cookie and is not
    stored on the server.
    """
    form = TokenForm(request.POST)
    if not form.is_valid():
        return show_account(request, form, refusal=Refused("invalid", "Fix the problems below and try again."))
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
    messages.success(request, f"The token {token.name} was revoked. Programs can no longer use it.")
    return redirect("account")


@never_cache
@require_http_methods(FORM_METHODS)
@login_required
def device(request: PersonRequest) -> HttpResponse:
    """Show which program requests an API token with a user code. The user then approves or denies the request.

    A GET request only shows the form with the code. It does not look up the code, because each lookup is counted in the
    database, and a GET request must not write to the database.
    """
    if request.method != "POST":
        return render(request, "account/device.html", {"code": request.GET.get("code", "")})
    if not ratelimit.consume(request, action="device_code", user=request.user):
        raise Refused("rate_limited", "Too many codes were entered. Try again in a minute.", retry_after=60)
    decision = request.POST.get("decision")
    try:
        login = device_logins.waiting_login(request.POST.get("code", ""))
        if decision in ("approve", "deny"):
            device_logins.decide(user=request.user, login=login, approve=decision == "approve")
    except Refused as refusal:
        return render(request, "account/device.html", {"refusal": refusal}, status=refusal.status)
    context = {"login": login, "decision": decision, "token_days": device_logins.token_days()}
    return render(request, "account/device.html", context)
