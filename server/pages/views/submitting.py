"""The submit page: one form for browsers with and without scripts, answered the same way."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect

from server.accounts.requests import PersonRequest
from server.errors import Refused
from server.pages import place
from server.pages.answers import answer
from server.pages.forms import SubmitForm
from server.submissions.services import intake, quota


@login_required
def submit(request: PersonRequest, slug: str) -> HttpResponse:
    here = place.find(request, slug)
    here.own_team()
    here.open_phase()
    if request.method != "POST":
        return show(request, here, SubmitForm())
    form = SubmitForm(request.POST, request.FILES)
    if not form.is_valid():
        return show(request, here, form, Refused("invalid", "Mend what is marked below, then send it again."))
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


def show(request: PersonRequest, here: place.Place, form: SubmitForm, refusal: Refused | None = None) -> HttpResponse:
    """The form with what was typed, and why it was not taken. A browser forgets the file; upload.js does not."""
    context = {
        "place": here,
        "now": here.now,
        "form": form,
        "refusal": refusal,
        "quota": quota.state(team=here.own_team(), phase=here.open_phase(), now=here.now),
        "max_bytes": settings.UPLOAD_MAX_BYTES,
    }
    return answer(request, "challenge/submit.html", context)
