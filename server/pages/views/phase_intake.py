"""The page where organizers decide whether a phase accepts submissions."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.errors import Refused
from server.organize.services import extending, overview, pausing
from server.pages.challenge_context import ChallengeContext
from server.pages.console.act_forms import ExtendPhaseForm, PauseForm, checked
from server.pages.rendering import render_page
from server.pages.views.phase_live import organized_phase


@require_http_methods(FORM_METHODS)
@login_required
def intake(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show whether a phase accepts submissions. A POST request pauses or resumes them, or extends the phase."""
    current = organized_phase(request, slug, phase)
    if request.method != "POST":
        return show(request, current, *forms_of(None, None))
    act = request.POST.get("act")
    pause, extend = forms_of(request.POST if act == "pause" else None, request.POST if act == "extend" else None)
    try:
        said = decide(request, current, pause, extend)
    except Refused as refusal:
        return show(request, current, pause, extend, refusal)
    messages.success(request, said)
    return redirect("organize_intake", slug, phase)


def forms_of(pause: QueryDict | None, extend: QueryDict | None) -> tuple[PauseForm, ExtendPhaseForm]:
    """Return the forms for pausing and for extending a phase, with the posted data.

    Both forms have a field `reason`, so the HTML ids of their fields get different prefixes.
    """
    return PauseForm(pause, auto_id="pause_%s"), ExtendPhaseForm(extend, auto_id="extend_%s")


def decide(request: PersonRequest, current: ChallengeContext, pause: PauseForm, extend: ExtendPhaseForm) -> str:
    """Pause or resume submissions, or extend the phase, as the form requests. Return a message about the change."""
    phase, by = current.required_phase(), request.user
    match request.POST.get("act"):
        case "pause":
            pausing.pause(phase=phase, by=by, **checked(pause))
            return "Submissions are paused. Submitted files are still scored."
        case "resume":
            pausing.resume(phase=phase, by=by)
            return "Submissions are accepted again."
        case "extend":
            extending.extend_phase(phase=phase, by=by, **checked(extend))
            return "The phase was extended."
    raise Refused("invalid", "Choose whether to pause, resume or extend the phase.")


def show(
    request: PersonRequest,
    current: ChallengeContext,
    pause: PauseForm,
    extend: ExtendPhaseForm,
    refusal: Refused | None = None,
) -> HttpResponse:
    phase = current.required_phase()
    context = {
        "current": current,
        "route": "organize_intake",
        "now": current.now,
        "state": overview.state_of(phase, current.now),
        "extensions": phase.extensions.select_related("team"),
        "pause_form": pause,
        "extend_form": extend,
        "may_edit": current.may_edit,
        "refusal": refusal,
    }
    return render_page(request, "console/intake.html", context)
