"""The page where organizers copy a challenge with its phases."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from evaluator.bundle import InvalidBundle
from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges.edit_forms import CloneChallengeForm
from server.challenges.roles import Right
from server.errors import Refused
from server.organize.services import cloning
from server.pages.challenge_context import ChallengeContext
from server.pages.console.kept_warnings import redirect_with_warnings
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context
from server.submissions.services import admission

INVALID = "Nothing was created. Fix the problems below and submit again."


@require_http_methods(FORM_METHODS)
@login_required
def clone(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the form for copying a challenge. A POST request creates the copy as a draft."""
    current = organized_context(request, slug, Right.EDIT, archived=True)
    if request.method != "POST":
        return show(request, current, CloneChallengeForm())
    form = CloneChallengeForm(request.POST)
    if not form.is_valid():
        return show(request, current, form, Refused("invalid", INVALID))
    admission.take_account_slot(request.user)
    try:
        made = cloning.clone_challenge(challenge=current.challenge, by=request.user, **form.cleaned_data)
    except InvalidBundle as error:
        found = {"mistakes": error.problems, "warnings": error.warnings}
        return show(request, current, form, Refused("invalid", INVALID), **found)
    except Refused as refusal:
        return show(request, current, form, refusal)
    messages.success(request, "The challenge was copied as a draft. Enter its dates, then publish it.")
    return redirect_with_warnings(request, made.warnings, "organize", made.challenge.slug)


def show(
    request: PersonRequest,
    current: ChallengeContext,
    form: CloneChallengeForm,
    refusal: Refused | None = None,
    **found: Any,
) -> HttpResponse:
    context = {"current": current, "now": current.now, "form": form, "refusal": refusal, **found}
    return render_page(request, "console/clone.html", context)
