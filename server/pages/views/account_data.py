"""The pages where people export their data and delete their account."""

from allauth.account.decorators import reauthentication_required
from allauth.core.internal import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.errors import Refused
from server.pages.rendering import render_page
from server.personal_data.deletion import delete_account, reasons_against
from server.personal_data.export import zip_of

HOUR_SECONDS = 3600


@never_cache
@require_safe
@login_required
def my_data(request: PersonRequest) -> HttpResponse:
    """Show which personal data the server keeps, why, and for how long, with links to export and delete it."""
    context = {
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "scored_days": settings.SCORED_FILE_DAYS,
        "session_days": settings.SESSION_COOKIE_AGE // (24 * HOUR_SECONDS),
    }
    return render_page(request, "account/my_data.html", context)


@never_cache
@require_safe
@login_required
@reauthentication_required
def export(request: PersonRequest) -> StreamingHttpResponse:
    """Serve a zip file with all data that is stored about the user. The file is created during the download."""
    if not ratelimit.consume(request, app="allauth.account", action="export", user=request.user, limit_get=True):
        detail = "You have exported your data several times within the last hour. Try again later."
        raise Refused("rate_limited", detail, retry_after=HOUR_SECONDS)
    headers = {"Content-Disposition": 'attachment; filename="podium-my-data.zip"'}
    return StreamingHttpResponse(zip_of(request.user), content_type="application/zip", headers=headers)


@never_cache
@require_http_methods(FORM_METHODS)
@login_required
@reauthentication_required
def delete(request: PersonRequest) -> HttpResponse:
    """Delete the user's account. The user must type the username as confirmation."""
    context = {"reasons": [*reasons_against(request.user)]}
    if request.method != "POST":
        return render_page(request, "account/delete.html", context)
    try:
        if request.POST.get("username", "").strip() != request.user.get_username():
            raise Refused("invalid", "Type your username exactly as it is shown.")
        delete_account(request.user)
    except Refused as refusal:
        return render_page(request, "account/delete.html", {**context, "refusal": refusal})
    logout(request)
    messages.success(request, "Your account was deleted.")
    return redirect("home")
