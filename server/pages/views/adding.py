"""The pages where organizers create, publish and delete a challenge, and add or copy a phase."""

from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from evaluator.bundle import InvalidBundle
from evaluator.problems import Problem
from server.accounts.models import User
from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges.edit_forms import ClonePhaseForm, NewChallengeForm, NewPhaseForm, ScheduleForm
from server.challenges.gate import may_open
from server.challenges.models import Challenge, Organizer, Phase
from server.challenges.roles import ROLES_WITH, Right
from server.clock import utc_text
from server.errors import Refused
from server.organize.services import adding, archiving, publishing
from server.organize.services.bundle_uploads import require_may_import
from server.pages.challenge_context import ChallengeContext
from server.pages.console.kept_warnings import redirect_with_warnings
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context, show_overview
from server.pages.views.phase_live import organized_phase
from server.submissions.services import admission

INVALID = "Nothing was created. Fix the problems below and submit again."


@require_http_methods(FORM_METHODS)
@login_required
def new_challenge(request: PersonRequest) -> HttpResponse:
    """Show the form for a new challenge. A POST request creates the challenge as a draft."""
    require_may_import(request.user)
    form = NewChallengeForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"form": form}
    if request.method == "POST":
        try:
            if not form.is_valid():
                raise Refused("invalid", INVALID)
            made = adding.create_challenge(by=request.user, **form.cleaned_data)
        except Refused as refusal:
            context["refusal"] = refusal
        else:
            messages.success(request, "The challenge was created as a draft. Add a phase, then publish it.")
            return redirect("organize", made.slug)
    return render_page(request, "console/new_challenge.html", context)


@require_http_methods(FORM_METHODS)
# The CSRF check reads the whole request body. It is deferred to `accept_phase`, so that the server can reject the
# request before reading the uploaded file.
@csrf_exempt
@login_required
def new_phase(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the form for a new phase. A POST request adds the phase with its ground truth."""
    current = organized_context(request, slug, Right.EDIT)
    if request.method != "POST":
        return show_phase_form(request, current, NewPhaseForm())
    admission.take_account_slot(request.user)
    return accept_phase(request, current)


@csrf_protect
def accept_phase(request: PersonRequest, current: ChallengeContext) -> HttpResponse:
    form = NewPhaseForm(request.POST, request.FILES)
    if not form.is_valid():
        return show_phase_form(request, current, form, Refused("invalid", INVALID))
    given = {**form.cleaned_data}
    path, public = Path(given.pop("file").temporary_file_path()), given.pop("public")
    values = {**given, "split": {"public": public}}
    warnings: list[Problem] = []
    try:
        phase = adding.add_phase(
            challenge=current.challenge, by=request.user, values=values, truth=path, warn=warnings.append
        )
    except InvalidBundle as error:
        found = {"mistakes": error.problems, "warnings": error.warnings}
        return show_phase_form(request, current, form, Refused("invalid", INVALID), **found)
    except Refused as refusal:
        return show_phase_form(request, current, form, refusal)
    return added(request, current, phase, warnings)


@require_http_methods(FORM_METHODS)
@login_required
def clone_phase(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the form for copying a phase. A POST request creates the copy."""
    current = organized_phase(request, slug, phase, Right.EDIT)
    found = current.required_phase()
    if request.method != "POST":
        return show_phase_form(request, current, ClonePhaseForm(), of_phase=found)
    form = ClonePhaseForm(request.POST)
    if not form.is_valid():
        return show_phase_form(request, current, form, Refused("invalid", INVALID), of_phase=found)
    admission.take_account_slot(request.user)
    warnings: list[Problem] = []
    try:
        made = adding.clone_phase(phase=found, by=request.user, values=form.cleaned_data, warn=warnings.append)
    except InvalidBundle as error:
        shown = {"of_phase": found, "mistakes": error.problems, "warnings": error.warnings}
        return show_phase_form(request, current, form, Refused("invalid", INVALID), **shown)
    except Refused as refusal:
        return show_phase_form(request, current, form, refusal, of_phase=found)
    return added(request, current, made, warnings)


def added(request: PersonRequest, current: ChallengeContext, phase: Phase, warnings: list[Problem]) -> HttpResponse:
    """Redirect to the page about a new phase's ground truth, which shows the warnings and the results of the gate."""
    gate = "Its gate is green." if may_open(phase) else "Its gate is not green, so it does not accept submissions yet."
    messages.success(request, f"Phase {phase.slug} was added. {gate}")
    return redirect_with_warnings(request, warnings, "organize_truth_version", current.challenge.slug, phase.slug, 1)


def show_phase_form(
    request: PersonRequest,
    current: ChallengeContext,
    form: forms.Form,
    refusal: Refused | None = None,
    **found: Any,
) -> HttpResponse:
    context = {
        "current": current,
        "now": current.now,
        "form": form,
        "refusal": refusal,
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "fields": [field for field in form if field.name != "file"],
        **found,
    }
    return render_page(request, "console/new_phase.html", context)


@require_POST
@login_required
def publish(request: PersonRequest, slug: str) -> HttpResponse:
    """Publish a draft challenge immediately, or schedule its publication.

    The same form turns a challenge that nobody has joined back into a draft.
    """
    current = organized_context(request, slug)
    try:
        messages.success(request, published(request, current.challenge))
    except Refused as refusal:
        return show_overview(request, current, refusal)
    return redirect("organize", slug)


def published(request: PersonRequest, challenge: Challenge) -> str:
    """Publish a challenge, schedule or cancel its publication, or make it a draft, as the form requests.

    Return a message about the change.
    """
    given, by = request.POST, request.user
    visibility = given.get("visibility", "")
    if "unschedule" in given:
        publishing.unschedule(challenge=challenge, by=by)
        return "The challenge stays a draft until you publish it."
    if visibility == "draft":
        publishing.unpublish(challenge=challenge, by=by)
        return "The challenge is a draft again. Only its organizers can see it."
    if "schedule" in given:
        form = ScheduleForm(given)
        if not form.is_valid():
            raise Refused("invalid", "Time: enter the date and time at which to publish the challenge.")
        found = publishing.schedule(challenge=challenge, by=by, visibility=visibility, at=form.cleaned_data["at"])
        return f"The challenge will be published at {utc_text(found.at)}."
    publishing.publish(challenge=challenge, by=by, visibility=visibility)
    return "The challenge was published."


@require_http_methods(FORM_METHODS)
@login_required
def archive(request: PersonRequest, slug: str) -> HttpResponse:
    """Archive a challenge, or make an archived challenge editable again.

    To archive the challenge, its owner must type the short name as confirmation.
    """
    current = organized_context(request, slug, Right.OWN, archived=True)
    context: dict[str, Any] = {"current": current, "now": current.now}
    if request.method == "POST":
        try:
            messages.success(request, archived(request, current.challenge))
        except Refused as refusal:
            context["refusal"] = refusal
        else:
            return redirect("organize", slug)
    return render_page(request, "console/archive.html", context)


def archived(request: PersonRequest, challenge: Challenge) -> str:
    """Archive a challenge or make it editable again, as the form requests. Return a message about the change."""
    if "take_back" in request.POST:
        archiving.take_back(challenge=challenge, by=request.user)
        return "The challenge is no longer archived."
    archiving.archive(challenge=challenge, by=request.user, name=request.POST.get("confirm", ""))
    return "The challenge is archived. It can be read, but not changed."


@require_http_methods(FORM_METHODS)
@login_required
def delete(request: PersonRequest, slug: str) -> HttpResponse:
    """Delete a challenge that nobody has joined. The owner must type its short name as confirmation."""
    current = organized_context(request, slug, Right.OWN)
    is_last = not may_create_after(request.user, deleted=current.challenge)
    context: dict[str, Any] = {"current": current, "now": current.now, "is_last": is_last}
    if request.method == "POST":
        try:
            publishing.delete(challenge=current.challenge, by=request.user, name=request.POST.get("confirm", ""))
        except Refused as refusal:
            context["refusal"] = refusal
        else:
            messages.success(request, f"The challenge {slug} was deleted.")
            return redirect("home" if is_last else "console")
    return render_page(request, "console/delete.html", context)


def may_create_after(user: User, *, deleted: Challenge) -> bool:
    """Return whether a user could still create challenges after the given challenge is deleted."""
    others = Organizer.objects.filter(user=user, role__in=ROLES_WITH[Right.EDIT]).exclude(challenge=deleted)
    return user.is_staff or user.has_perm("challenges.add_challenge") or others.exists()
