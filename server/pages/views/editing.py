"""The pages where organizers edit a challenge and its phases, and preview their Markdown fields."""

from copy import copy
from typing import Any, TypeVar

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges.edit_forms import TEXTS, EditChallengeForm, EditPhaseForm
from server.challenges.feedback_leakage import PER_CLASS
from server.challenges.forms import ConfirmedForm
from server.challenges.models import Challenge, Phase
from server.errors import Refused
from server.organize.services import editing
from server.pages.challenge_context import ChallengeContext
from server.pages.console.leakage import bits_per_class, feedback_choices
from server.pages.formatting.markdown import render_markdown
from server.pages.rendering import render_page
from server.pages.views.console import require_console
from server.pages.views.organize import organized_context
from server.pages.views.phase_live import organized_phase

Form = TypeVar("Form", bound=ConfirmedForm)

NOT_SAVED = "Nothing was saved. Fix the problems below and save again."
CHALLENGE_SECTIONS = {
    "About": ("title", "summary", "contact"),
    "Dates": ("opens_at", "closes_at", "join_until", "merge_until"),
    "Who takes part": ("visibility", "registration", "allowed_domains", "allowed_people", "team_max_size"),
}
PHASE_SECTIONS = {
    "About": ("title",),
    "Dates": ("opens_at", "closes_at", "freeze_at", "reveal"),
    "Quota": ("quota_per_day", "quota_total", "attempts_per_day", "finals"),
    "Feedback": ("feedback", "feedback_decimals", "ladder_standard_errors", "feedback_classes"),
}


@require_http_methods(FORM_METHODS)
@login_required
def challenge(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the form for editing a challenge. A POST request saves or previews the changes."""
    current = organized_context(request, slug)
    if request.method != "POST":
        return show_challenge(request, current, EditChallengeForm(instance=copy(current.challenge)))
    if "preview" in request.POST:
        return show_challenge(request, current, unsaved(EditChallengeForm, current.challenge, request))
    try:
        form = editing.edit_challenge(challenge=current.challenge, by=request.user, values=request.POST)
    except Refused as refusal:
        return show_challenge(request, current, unsaved(EditChallengeForm, current.challenge, request), refusal)
    if form.errors:
        return show_challenge(request, current, form, Refused("invalid", NOT_SAVED))
    messages.success(request, said(form))
    return redirect("organize_edit", slug)


@require_http_methods(FORM_METHODS)
@login_required
def phase(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the form for editing a phase, and how much each kind of feedback reveals about the ground truth.

    A POST request saves the changes.
    """
    current = organized_phase(request, slug, phase)
    found = current.required_phase()
    if request.method != "POST":
        return show_phase(request, current, EditPhaseForm(instance=copy(found)))
    try:
        form = editing.edit_phase(phase=found, by=request.user, values=request.POST)
    except Refused as refusal:
        return show_phase(request, current, unsaved(EditPhaseForm, found, request), refusal)
    if form.errors:
        return show_phase(request, current, form, Refused("invalid", NOT_SAVED))
    messages.success(request, said(form))
    return redirect("organize_phase_edit", slug, phase)


@require_POST
@login_required
def preview(request: PersonRequest) -> HttpResponse:
    """Render the Markdown in one field of the submitted form as HTML. The query parameter `field` names the field."""
    require_console(request.user)
    return HttpResponse(render_markdown(request.POST.get(request.GET.get("field", ""), "")))


def unsaved(kind: type[Form], row: Challenge | Phase, request: PersonRequest) -> Form:
    """Return the form for editing a challenge or phase, filled with the submitted values, which are not validated."""
    values = {name: request.POST.get(name, "") for name in kind.base_fields}
    form = kind(instance=copy(row), initial=values)
    form.initial["shown"] = values["shown"]
    return form


def said(form: ConfirmedForm) -> str:
    return "The changes were saved." if set(form.changed_data) - {"confirm"} else "Nothing has changed."


def show_challenge(
    request: PersonRequest, current: ChallengeContext, form: EditChallengeForm, refusal: Refused | None = None
) -> HttpResponse:
    context = form_context(current, form, CHALLENGE_SECTIONS) | {"texts": [form[name] for name in TEXTS]}
    return render_page(request, "console/edit_challenge.html", {**context, "refusal": refusal})


def show_phase(
    request: PersonRequest, current: ChallengeContext, form: EditPhaseForm, refusal: Refused | None = None
) -> HttpResponse:
    found = current.required_phase()
    context = form_context(current, form, PHASE_SECTIONS) | {
        "route": "organize_phase_edit",
        "choices": feedback_choices(found),
        "bits_per_class": bits_per_class(found),
        "per_class": PER_CLASS,
        "refusal": refusal,
    }
    return render_page(request, "console/edit_phase.html", context)


def form_context(
    current: ChallengeContext, form: ConfirmedForm, sections: dict[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Return the template context for an edit form. Its fields are disabled if the user may not edit the challenge."""
    for field in form.fields.values():
        field.disabled = not current.may_edit
    return {
        "current": current,
        "now": current.now,
        "form": form,
        "sections": [(title, [form[name] for name in names]) for title, names in sections.items()],
        "may_edit": current.may_edit,
    }
