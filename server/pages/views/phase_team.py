"""The page where organizers extend a phase for a team, grant it more submissions, or disqualify it."""

from collections.abc import Mapping

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from server.accounts.requests import FORM_METHODS, PersonRequest
from server.challenges import disqualification
from server.challenges.closing import closing_for
from server.challenges.disqualification import REASON_CHARACTERS
from server.challenges.models import Phase, Team
from server.errors import Refused
from server.organize.services import extending
from server.pages.console.act_forms import ExtendForm, GrantForm, TakeBackForm, checked
from server.pages.rendering import render_page
from server.pages.views.phase_live import organized_phase
from server.submissions.models import QuotaGrant, Submission
from server.submissions.services import grants, quota


class ReasonForm(forms.Form):
    """The form for reinstating a disqualified team."""

    reason = forms.CharField(
        max_length=REASON_CHARACTERS,
        required=False,
        label="Reason",
        help_text="The reason is stored in the audit log. It is required for a disqualification.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class DisqualifyForm(ReasonForm):
    """The form for disqualifying a team."""

    show = forms.BooleanField(
        required=False,
        initial=True,
        label="Show the reason to the team",
        help_text="Otherwise, the team sees only that you removed it from the leaderboards.",
    )


FORMS: Mapping[str, type[forms.Form]] = {
    "disqualify": DisqualifyForm,
    "reinstate": ReasonForm,
    "extend": ExtendForm,
    "grant": GrantForm,
}
PREFIXED = ("extend", "grant", "take_back")


@require_http_methods(FORM_METHODS)
@login_required
def team(request: PersonRequest, slug: str, phase: str, team: int) -> HttpResponse:
    """Show organizers a team with its quota and its deadline in a phase.

    A POST request extends the phase for the team, grants it additional submissions or takes these back, or disqualifies
    or reinstates the team.
    """
    current = organized_phase(request, slug, phase)
    of_phase, found = current.required_phase(), get_object_or_404(Team, pk=team, challenge=current.challenge)
    given = quota.grants_of(team=found, phase=of_phase)
    context = {
        "current": current,
        "route": "organize_submissions",
        "now": current.now,
        "team": found,
        "team_query": urlencode({"team": found.name}),
        "submissions": Submission.objects.filter(team=found, phase=of_phase).count(),
        "quota": quota.state(team=found, phase=of_phase, now=current.now),
        "closing": closing_for(found, of_phase),
        "extension": found.extensions.filter(phase=of_phase).first(),
        "grants": given,
        "may_edit": current.may_edit,
        "reason_form": ReasonForm() if found.disqualified_at else DisqualifyForm(),
        "extend_form": ExtendForm(prefix="extend"),
        "grant_form": GrantForm(prefix="grant", initial={"amount": 1, "day": current.now.date()}),
        "take_back_form": TakeBackForm(prefix="take_back", grants=given),
    }
    if request.method != "POST":
        return render_page(request, "console/team.html", context)
    act = request.POST.get("act", "")
    form = posted_form(act, request.POST, given)
    try:
        said = decide(request, of_phase, found, act, form)
    except Refused as refusal:
        name = f"{act}_form" if act in PREFIXED else "reason_form"
        return render_page(request, "console/team.html", {**context, name: form, "refusal": refusal})
    messages.success(request, said)
    return redirect("organize_team", slug, phase, team)


def posted_form(act: str, data: QueryDict, given: QuerySet[QuotaGrant]) -> forms.Form:
    """Return the form for an action, with the posted data.

    `given` contains the grants (additional submissions allowed by organizers) that can be taken back.
    """
    prefix = act if act in PREFIXED else None
    if act == "take_back":
        return TakeBackForm(data, prefix=prefix, grants=given)
    return FORMS.get(act, ReasonForm)(data, prefix=prefix)


def decide(request: PersonRequest, phase: Phase, team: Team, act: str, form: forms.Form) -> str:
    """Make the requested change to a team, such as a disqualification. Return a message about the change."""
    values, by = checked(form), request.user
    match act:
        case "disqualify":
            disqualification.disqualify(team=team, by=by, **values)
            return f"{team.name} was disqualified."
        case "reinstate":
            disqualification.reinstate(team=team, by=by, reason=values["reason"])
            return f"{team.name} was reinstated."
        case "extend":
            extending.extend_team(phase=phase, team=team, by=by, **values)
            return f"{team.name} can submit until the new end. The private leaderboard opens after that."
        case "grant":
            grants.grant(phase=phase, team=team, by=by, **values)
            return f"{team.name} can now make more submissions."
        case "take_back":
            return taken_back_message(grants.take_back(by=by, **values), values["grant"])
    raise Refused("invalid", "Choose what to do with the team.")


def taken_back_message(amount: int, grant: QuotaGrant) -> str:
    """Return a message with the number of granted submissions that were taken back, and the number already used."""
    was = "submission was" if amount == 1 else "submissions were"
    used = f" The team had already used the other {grant.amount - amount}." if grant.amount > amount else ""
    return f"{amount} granted {was} taken back.{used}"
