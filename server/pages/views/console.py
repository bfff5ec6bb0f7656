"""The organizers' console, which lists the challenges that a person organizes."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from server.accounts.models import User
from server.accounts.requests import PersonRequest
from server.challenges.models import Organizer
from server.clock import database_now
from server.errors import Refused
from server.organize.services import bundle_uploads, overview
from server.pages.rendering import render_page
from server.pages.views.organizers import TWO_FACTOR_REQUIRED

PER_PAGE = 50


@require_safe
@login_required
def console(request: PersonRequest) -> HttpResponse:
    """List the challenges that the user organizes, with their phases. Staff see all challenges."""
    may_import = require_console(request.user)
    now = database_now()
    pages = Paginator(overview.organized_challenges(request.user), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "now": now,
        "may_import": may_import,
        "pages": pages,
        "organized": overview.with_phases(list(pages), now=now),
        "locked": [] if request.user.is_staff else overview.locked_challenges(request.user),
        "two_factor_required": TWO_FACTOR_REQUIRED,
    }
    return render_page(request, "console/console.html", context)


def require_console(user: User) -> bool:
    """Return whether a user may create challenges.

    Raises Refused if the user may not create challenges and does not organize any.
    """
    may_import = bundle_uploads.may_import(user)
    if not (may_import or Organizer.objects.filter(user=user).exists()):
        raise Refused("forbidden", "Only organizers can see this page.")
    return may_import
