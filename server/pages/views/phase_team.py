"""The page on which organizers disqualify a team or reinstate it."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges import disqualification
from server.challenges.disqualification import REASON_CHARACTERS
from server.challenges.models import Team
from server.errors import Refused
from server.pages.rendering import render_page
from server.pages.views.phase_live import organized_phase
from server.submissions.models import Submission


class ReasonForm(forms.Form):
    """The form to disqualify or reinstate a team."""

    reason = forms.CharField(
        max_length=REASON_CHARACTERS,
        required=False,
        label="Reason",
        help_text="Stored in the audit log. The reason for a disqualification is required.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


@require_http_methods(FORM_METHODS)
@login_required
def team(request: PersonRequest, slug: str, phase: str, team: int) -> HttpResponse:
    """Show whether a team is disqualified, and disqualify or reinstate it."""
    current = organized_phase(request, slug, phase)
    found = get_object_or_404(Team, pk=team, challenge=current.challenge)
    form = ReasonForm(request.POST if request.method == "POST" else None)
    context = {
        "current": current,
        "route": "organize_submissions",
        "now": current.now,
        "team": found,
        "team_query": urlencode({"team": found.name}),
        "submissions": Submission.objects.filter(team=found, phase=current.required_phase()).count(),
        "form": form,
    }
    if request.method != "POST":
        return render_page(request, "console/team.html", context)
    try:
        said = decide(request, found, form)
    except Refused as refusal:
        return render_page(request, "console/team.html", {**context, "refusal": refusal})
    messages.success(request, said)
    return redirect("organize_team", slug, phase, team)


def decide(request: PersonRequest, team: Team, form: ReasonForm) -> str:
    """Disqualify or reinstate the team. Return a sentence that says what was done."""
    if not form.is_valid():
        raise Refused("invalid", f"A reason has at most {REASON_CHARACTERS} characters.")
    reason = form.cleaned_data["reason"]
    act = request.POST.get("act")
    if act not in ("disqualify", "reinstate"):
        raise Refused("invalid", "Choose whether to disqualify or to reinstate the team.")
    if act == "reinstate":
        disqualification.reinstate(team=team, by=request.user, reason=reason)
        return f"{team.name} was reinstated."
    disqualification.disqualify(team=team, by=request.user, reason=reason)
    return f"{team.name} was disqualified."
