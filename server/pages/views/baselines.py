"""The page where organizers add and remove the baselines of a phase."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges import disqualification
from server.challenges.models import Team
from server.errors import Refused
from server.organize.services import own_baselines
from server.pages.challenge_context import ChallengeContext
from server.pages.console.act_forms import BaselineForm, checked
from server.pages.console.rows import table_row
from server.pages.rendering import render_page
from server.pages.views.phase_live import organized_phase
from server.submissions.services import admission


@require_http_methods(FORM_METHODS)
# The CSRF check parses the form with the uploaded file. It runs later, in `accept`, so that an upload that is not
# allowed is refused without being read.
@csrf_exempt
@login_required
def baselines(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """List the baselines of a phase. A POST request submits a file for a baseline."""
    current = organized_phase(request, slug, phase)
    if request.method != "POST":
        return show(request, current, BaselineForm())
    admission.take_account_slot(request.user)
    return accept(request, current)


@csrf_protect
def accept(request: PersonRequest, current: ChallengeContext) -> HttpResponse:
    form, phase = BaselineForm(request.POST, request.FILES), current.required_phase()
    try:
        submission = own_baselines.add(phase=phase, by=request.user, **checked(form))
    except Refused as refusal:
        return show(request, current, form, refusal)
    messages.success(request, f"{submission.file_name} was submitted for the baseline {submission.team.name}.")
    return redirect("organize_baselines", current.challenge.slug, phase.slug)


@require_POST
@login_required
def change(request: PersonRequest, slug: str, phase: str, team: int) -> HttpResponse:
    """Remove a baseline from the leaderboards, or put it back."""
    current = organized_phase(request, slug, phase)
    found = get_object_or_404(Team, pk=team, challenge=current.challenge, is_baseline=True)
    try:
        if "put_back" in request.POST:
            disqualification.put_back_baseline(team=found, by=request.user)
            said = f"{found.name} is on the leaderboards again."
        else:
            disqualification.remove_baseline(team=found, by=request.user)
            said = f"{found.name} was removed from the leaderboards."
    except Refused as refusal:
        return show(request, current, BaselineForm(), refusal)
    messages.success(request, said)
    return redirect("organize_baselines", slug, phase)


def show(
    request: PersonRequest, current: ChallengeContext, form: BaselineForm, refusal: Refused | None = None
) -> HttpResponse:
    phase, access = current.required_phase(), current.score_access
    context = {
        "current": current,
        "route": "organize_baselines",
        "now": current.now,
        "rows": [table_row(one, access) for one in own_baselines.latest(phase)],
        "metric": phase.declared_track.metrics[0].title,
        "decimals": access.decimals,
        "form": form,
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "refusal": refusal,
    }
    return render_page(request, "console/baselines.html", context)
