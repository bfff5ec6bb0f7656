"""The account page with API tokens. Sign-up, login and passwords are views of django-allauth with our templates."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from server.accounts.forms import TokenForm
from server.accounts.models import ApiToken
from server.accounts.requests import PersonRequest
from server.accounts.services import issue_token, revoke_token
from server.clock import database_now
from server.errors import Refused

NEW_TOKEN, NEW_TOKEN_SECONDS = "new_token", 60  # the cookie that carries a new secret to the page that shows it


def rate_limited(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Refuse a request that exceeds a limit of django-allauth. The Retry-After header gives the seconds to wait."""
    raise Refused("rate_limited", "Too many attempts from your network or for this account. Try again in a minute.")


@never_cache
@require_safe
@login_required
def account(request: PersonRequest) -> HttpResponse:
    """Show the account. The secret of a new token is shown only once, because the response deletes its cookie."""
    secret = request.get_signed_cookie(NEW_TOKEN, "", salt=salt_of(request), max_age=NEW_TOKEN_SECONDS)
    response = show_account(request, TokenForm(), secret=secret or "")
    response.delete_cookie(NEW_TOKEN, path=reverse("account"))
    return response


def salt_of(request: PersonRequest) -> str:
    """Return a cookie salt for this user, so that the next user of the same browser cannot read the token's secret."""
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
    """Create a token, and redirect to the page that shows its secret. Reloading that page does not create another one.

    The secret is sent in a cookie and is not stored on the server.
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
