"""The submit page: one form for browsers with and without JavaScript."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges import feedback_leakage
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.forms import SubmitForm
from server.pages.rendering import render_page
from server.submissions.limits import file_limits
from server.submissions.services import admission, intake, quota, retention


@require_http_methods(FORM_METHODS)
@csrf_exempt  # `accept` runs the CSRF check, which reads the form, once the upload is allowed.
@login_required
def submit(request: PersonRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    team, phase = current.required_team(), current.required_phase()
    refusal = upload_refusal(current, team=team, phase=phase)
    if request.method != "POST":
        return show(request, current, SubmitForm(), not_now=refusal)
    if refusal:
        return show(request, current, SubmitForm(), refusal)
    admission.take_upload_slots(user=request.user, team=team, phase=phase, now=current.now)
    return accept(request, current)


def upload_refusal(current: ChallengeContext, *, team: Team, phase: Phase) -> Refused | None:
    """Return why the team may not submit any file now, or None. upload.js requests it before it uploads a file."""
    try:
        admission.refuse_early(team=team, phase=phase, now=current.now)
    except Refused as refusal:
        return refusal
    return None


@csrf_protect
def accept(request: PersonRequest, current: ChallengeContext) -> HttpResponse:
    """Read the form and save the submission."""
    form = SubmitForm(request.POST, request.FILES)
    if not form.is_valid():
        return show(request, current, form, Refused("invalid", "Fix the problems below and submit again."))
    try:
        submission = intake.submit(
            user=request.user,
            team=current.required_team(),
            phase=current.required_phase(),
            file=form.cleaned_data["file"],
            note=form.cleaned_data["note"],
        )
    except Refused as refusal:
        return show(request, current, form, refusal)
    return redirect("submission", submission.pk)


def show(
    request: PersonRequest,
    current: ChallengeContext,
    form: SubmitForm,
    refusal: Refused | None = None,
    *,
    not_now: Refused | None = None,
) -> HttpResponse:
    """Show the form. `refusal` is why the file was not accepted; `not_now` is why no file would be accepted."""
    team, phase = current.required_team(), current.required_phase()
    context = {
        "current": current,
        "now": current.now,
        "form": form,
        "refusal": refusal,
        "not_now": not_now,
        "share": retention.storage_use(team),
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "quota": quota.state(team=team, phase=phase, now=current.now),
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "limits": file_limits(),
        "feedback": "" if phase.feedback == Phase.Feedback.EXACT else feedback_leakage.feedback_text(phase),
    }
    return render_page(request, "challenge/submit.html", context)
