"""The submit page, whose form works with and without JavaScript.

People can also join the challenge by submitting a file.
"""

from dataclasses import replace

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges import feedback_leakage
from server.challenges.models import Phase
from server.challenges.services import check_admission, join
from server.errors import Refused
from server.pages.challenge.commands import submit_command, upload_command
from server.pages.challenge.first_part import file_layout
from server.pages.challenge_context import ChallengeContext, find_context
from server.pages.forms import FirstSubmitForm, SubmitForm
from server.pages.rendering import render_page
from server.pages.submission.refusal_links import refusal_link
from server.submissions.limits import file_limits
from server.submissions.services import admission, intake, quota, retention


@require_http_methods(FORM_METHODS)
# The CSRF check reads the whole request body. It is deferred to `accept`, so that the server can reject the request
# before reading the uploaded file.
@csrf_exempt
@login_required
def submit(request: PersonRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    if not current.joins_with_file:
        current.required_team()
    if request.method != "POST":
        return show(request, current, SubmitForm(), not_now=upload_refusal(current, accept_rules=True))
    if refusal := upload_refusal(current, accept_rules="accept_rules" in request.GET):
        return show(request, current, SubmitForm(), refusal)
    take_upload_slots(current)
    return accept(request, current)


def upload_refusal(current: ChallengeContext, *, accept_rules: bool) -> Refused | None:
    """Return the reason why the viewer may not submit a file now, or None if the viewer may.

    `accept_rules` is true if a viewer without a team accepts the rules of the challenge by submitting.
    """
    phase = current.required_phase()
    try:
        if current.team:
            admission.refuse_early(team=current.team, phase=phase, now=current.now)
        else:
            check_admission(current.challenge, current.user, accept_rules=accept_rules)
            admission.refuse_by_date(phase, current.now)
    except Refused as refusal:
        return refusal
    return None


def take_upload_slots(current: ChallengeContext) -> None:
    """Reserve an upload slot for the viewer's account and, if the viewer has a team, one for the team.

    Upload slots limit how many large files an account or a team can upload at the same time.
    """
    if current.team:
        phase = current.required_phase()
        admission.take_upload_slots(user=current.user, team=current.team, phase=phase, now=current.now)
    else:
        admission.take_account_slot(current.user)


@csrf_protect
def accept(request: PersonRequest, current: ChallengeContext) -> HttpResponse:
    """Read the uploaded form and save the submission. A user without a team joins the challenge first.

    The user has already accepted the rules. Otherwise, the request would have been rejected before its body was read.
    """
    form = SubmitForm(request.POST, request.FILES) if current.team else FirstSubmitForm(request.POST, request.FILES)
    if not form.is_valid():
        return show(request, current, form, Refused("invalid", "Fix the problems below and submit again."))
    entered = form.cleaned_data
    try:
        admission.refuse_large(entered["file"].size)
        if not current.team:
            joined = join(
                user=request.user, challenge=current.challenge, accept_rules=True, team_name=entered["team_name"]
            )
            current = replace(current, membership=joined)
        submission = intake.submit(
            user=request.user,
            team=current.required_team(),
            phase=current.required_phase(),
            file=entered["file"],
            note=entered["note"],
        )
    except Refused as refusal:
        return show(request, current, form, refusal)
    return redirect("submission", submission.pk)


def form_address(current: ChallengeContext) -> str:
    """Return the URL that receives the submit form.

    For a viewer without a team, the query string records that the viewer accepts the rules.
    """
    query = current.phase_query
    if not current.team:
        query += f"{'&' if query else '?'}accept_rules=on"
    return reverse("submit", args=[current.challenge.slug]) + query


def show(
    request: PersonRequest,
    current: ChallengeContext,
    form: SubmitForm,
    refusal: Refused | None = None,
    *,
    not_now: Refused | None = None,
) -> HttpResponse:
    """Show the submit page.

    `refusal` explains why the uploaded file was not accepted. `not_now` explains why no file is accepted at the moment.
    """
    phase = current.required_phase()
    context = {
        "current": current,
        "now": current.now,
        "form": form if current.team or isinstance(form, FirstSubmitForm) else FirstSubmitForm(),
        "address": form_address(current),
        "refusal": refusal,
        "not_now": not_now,
        "refusal_link": refusal_link(refusal or not_now, current, user=request.user),
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "layout": file_layout(phase.declared_track.form),
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "limits": file_limits(),
        "submit_command": submit_command(phase, joins=not current.team),
        "upload_command": upload_command(phase, joins=not current.team),
        "feedback": "" if phase.feedback == Phase.Feedback.EXACT else feedback_leakage.feedback_text(phase),
    }
    if team := current.team:
        context["share"] = retention.storage_use(team)
        context["quota"] = quota.state(team=team, phase=phase, now=current.now)
    return render_page(request, "challenge/submit.html", context)
