"""The organizers' page with the ground truths and rescorings of a phase, and the public change log."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST, require_safe

from evaluator.bundle import InvalidBundle
from evaluator.problems import Problem
from server.accounts.requests import PersonRequest
from server.challenges.gate import gate_of, may_open
from server.challenges.models import Phase
from server.errors import Refused
from server.organize.services import applying, change_log, rescoring, truths
from server.organize.services.previews import preview
from server.organize.services.truths import WouldReveal
from server.pages.challenge_context import find_context
from server.pages.forms import ApplyForm, RescoreForm, SeenForm, TruthForm
from server.pages.rendering import render_page
from server.pages.views.organize import organized_context
from server.submissions.feedback import SPLITS
from server.submissions.services import admission

# The fields of `ApplyForm` have ids with this prefix, so that they differ from the ids in the other forms of the page.
APPLY_IDS = "apply_%s"


def organized_phase(request: PersonRequest, slug: str, phase: str) -> Phase:
    """Return the phase with the given slug for its organizers.

    Raises Refused if the user is not an organizer, and Http404 if there is no such phase.
    """
    current = organized_context(request, slug)
    found = next((one for one in current.phases if one.slug == phase), None)
    if found is None:
        raise Http404("no such phase")
    return found


@require_safe
@login_required
def versions(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    return show(request, organized_phase(request, slug, phase))


@require_POST
# The CSRF check reads the whole request body. It is deferred to `accept_truth`, so that the server can reject the
# request before reading the uploaded file.
@csrf_exempt
@login_required
def add(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Add a version of a phase's ground truth. If the uploaded files have faults, list the faults instead."""
    found = organized_phase(request, slug, phase)
    admission.take_account_slot(request.user)
    return accept_truth(request, found)


@csrf_protect
def accept_truth(request: PersonRequest, phase: Phase) -> HttpResponse:
    form, warnings = TruthForm(request.POST, request.FILES), list[Problem]()
    if not form.is_valid():
        return show(request, phase, Refused("invalid", "Choose a zip file with the ground truth."))
    path, reveal = Path(form.cleaned_data["file"].temporary_file_path()), form.cleaned_data["reveal"]
    try:
        truth = truths.add(phase=phase, path=path, by=request.user, warn=warnings.append, reveal=reveal)
    except InvalidBundle as error:
        refusal = Refused("invalid", "This ground truth cannot be used. Fix the errors and add it again.")
        return show(request, phase, refusal, mistakes=error.problems)
    except Refused as refusal:
        return show(request, phase, refusal)
    messages.success(request, f"Version {truth.version} was added. The leaderboards have not changed.")
    return show(request, phase, warnings=warnings)


@require_POST
@login_required
def rescore(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Start rescoring all submissions to a phase against a version of its ground truth.

    The leaderboards do not change yet.
    """
    found, form = organized_phase(request, slug, phase), RescoreForm(request.POST)
    if not form.is_valid():
        return show(request, found, Refused("invalid", "Choose a version of the ground truth."))
    truth = None
    try:
        truth = rescoring.version_of(found, form.cleaned_data["truth"])
        rescoring.start(phase=found, by=request.user, truth=truth, reveal=form.cleaned_data["reveal"])
    except Refused as refusal:
        return show(request, found, refusal, revealing=truth if isinstance(refusal, WouldReveal) else None)
    return redirect("organize_truths", slug, phase)


@require_POST
@login_required
def apply(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Apply the open rescoring of a phase. All leaderboards of the phase change at the same time."""
    found, form = organized_phase(request, slug, phase), ApplyForm(request.POST, auto_id=APPLY_IDS)
    if not form.is_valid():
        return show(request, found, Refused("invalid", "The reason or the name is too long."))
    given = {**form.cleaned_data}
    explanation = {name: given.pop(name) for name in ("reason", "signed")}
    try:
        begun = applying.seen_rescoring(found, given.pop("version"))
        change_log.explain(found=begun, by=request.user, **explanation)
        applying.apply(found=begun, by=request.user, **given)
    except Refused as refusal:
        return show(request, found, refusal, apply_form=form, must_confirm=isinstance(refusal, WouldReveal))
    messages.success(request, f"The leaderboards now show version {begun.truth.version}.")
    return redirect("organize_truths", slug, phase)


@require_POST
@login_required
def discard(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Discard a phase's rescoring that has not been applied yet. The leaderboards do not change."""
    found = organized_phase(request, slug, phase)
    form = SeenForm(request.POST)
    try:
        applying.seen_rescoring(found, form.cleaned_data["version"] if form.is_valid() else None)
        rescoring.discard(phase=found, by=request.user)
    except Refused as refusal:
        return show(request, found, refusal)
    messages.success(request, "The rescoring was discarded. The leaderboards have not changed.")
    return redirect("organize_truths", slug, phase)


def show(request: PersonRequest, phase: Phase, refusal: Refused | None = None, **found: Any) -> HttpResponse:
    """Show organizers the versions of a phase's ground truth, and the open rescoring with its effects."""
    current = organized_context(request, phase.challenge.slug)
    begun = rescoring.open_rescoring(phase)
    context = {
        "current": current,
        "now": current.now,
        "of_phase": phase,
        "may_edit": current.may_edit,
        "versions": [(truth, gate_of(truth, phase)) for truth in phase.truths.all()],
        "is_closed_by_gate": not may_open(phase),
        "refusal": refusal,
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "truth_form": TruthForm(),
        "apply_form": ApplyForm(auto_id=APPLY_IDS),
        **found,
    }
    if begun:
        context |= {
            "begun": begun,
            "gate_after": gate_of(begun.truth, phase),
            "left": rescoring.count_left(begun),
            "unscorable": rescoring.unscorable(begun),
            "previews": [preview(begun, split=split) for split in SPLITS],
        }
    return render_page(request, "organize/truths.html", context)


@require_safe
def changes(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the public change log: when and why the ground truth of a phase was replaced."""
    current = find_context(request, slug)
    applied = change_log.applied(current.phase) if current.phase else []
    return render_page(request, "challenge/changes.html", {"current": current, "now": current.now, "changes": applied})
