"""The submit page: one form for browsers with and without scripts, answered the same way."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from server.accounts.requests import READ_AND_SEND, PersonRequest
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.pages import place
from server.pages.answers import answer
from server.pages.forms import SubmitForm
from server.submissions.limits import file_limits
from server.submissions.services import admission, intake, keeping, quota


@require_http_methods(READ_AND_SEND)
@csrf_exempt  # the check reads the form; `take` has it made, once it is known that the file may be taken
@login_required
def submit(request: PersonRequest, slug: str) -> HttpResponse:
    here = place.find(request, slug)
    not_now = why_not_now(here, team=here.own_team(), phase=here.open_phase())
    if request.method != "POST":
        return show(request, here, SubmitForm(), not_now=not_now)
    if not_now:
        return show(request, here, SubmitForm(), not_now)
    admission.take_upload_slots(user=request.user, team=here.own_team(), phase=here.open_phase(), now=here.now)
    return take(request, here)


def why_not_now(here: place.Place, *, team: Team, phase: Phase) -> Refused | None:
    """Return what would refuse any file; the page shows it, and upload.js asks for it before it sends one."""
    try:
        admission.refuse_unread(team=team, phase=phase, now=here.now)
    except Refused as refusal:
        return refusal
    return None


@csrf_protect
def take(request: PersonRequest, here: place.Place) -> HttpResponse:
    form = SubmitForm(request.POST, request.FILES)
    if not form.is_valid():
        return show(request, here, form, Refused("invalid", "Fix the problems below and submit again."))
    try:
        submission = intake.submit(
            user=request.user,
            team=here.own_team(),
            phase=here.open_phase(),
            file=form.cleaned_data["file"],
            note=form.cleaned_data["note"],
        )
    except Refused as refusal:
        return show(request, here, form, refusal)
    return redirect("submission", submission.pk)


def show(
    request: PersonRequest,
    here: place.Place,
    form: SubmitForm,
    refusal: Refused | None = None,
    *,
    not_now: Refused | None = None,
) -> HttpResponse:
    """The form, and why it was not taken or would not be. A browser forgets the file then; upload.js does not."""
    context = {
        "place": here,
        "now": here.now,
        "form": form,
        "refusal": refusal,
        "not_now": not_now,
        "share": keeping.share_of(here.own_team()),
        "unscored_days": settings.UNSCORED_FILE_DAYS,
        "quota": quota.state(team=here.own_team(), phase=here.open_phase(), now=here.now),
        "max_bytes": settings.UPLOAD_MAX_BYTES,
        "limits": file_limits(),
    }
    return answer(request, "challenge/submit.html", context)
