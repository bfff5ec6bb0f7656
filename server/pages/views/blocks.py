"""The page where organizers block people from joining a challenge."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges import blocking
from server.challenges.models import Block
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext
from server.pages.console.act_forms import BlockForm, checked
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context

ROWS = 50


@require_http_methods(FORM_METHODS)
@login_required
def blocks(request: PersonRequest, slug: str) -> HttpResponse:
    """Show who is blocked from joining a challenge. A POST request blocks a person or removes a block."""
    current = organized_context(request, slug)
    if request.method != "POST":
        return show(request, current, BlockForm())
    form = BlockForm(request.POST if request.POST.get("act") == "block" else None)
    try:
        said = decide(request, current, form)
    except Refused as refusal:
        return show(request, current, form, refusal)
    messages.success(request, said)
    return redirect("organize_blocks", slug)


def decide(request: PersonRequest, current: ChallengeContext, form: BlockForm) -> str:
    """Block a person or remove a block, as the form requests. Return a message about the change."""
    act, key = request.POST.get("act"), request.POST.get("block", "")
    if act == "block":
        found = blocking.block(challenge=current.challenge, by=request.user, **checked(form))
        is_member = current.challenge.memberships.filter(user=found.user).exists()
        return f"{found.user} is blocked." + (" They stay in their team." if is_member else "")
    if act == "unblock" and key.isdecimal():
        one = Block.objects.filter(challenge=current.challenge, pk=key).first()
        if one is None:
            raise Refused("not_found", blocking.NOT_BLOCKED)
        return f"{blocking.unblock(block=one, by=request.user).user} can join the challenge again."
    raise Refused("invalid", "Choose a person to block or unblock.")


def show(
    request: PersonRequest, current: ChallengeContext, form: BlockForm, refusal: Refused | None = None
) -> HttpResponse:
    found = Block.objects.filter(challenge=current.challenge).select_related("user")
    context: dict[str, Any] = {
        "current": current,
        "now": current.now,
        "pages": Paginator(found, ROWS).get_page(request.GET.get("page")),
        "form": form,
        "may_edit": current.may_edit,
        "refusal": refusal,
    }
    return render_page(request, "console/blocks.html", context)
