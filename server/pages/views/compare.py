"""Two of a team's entries side by side."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from server.accounts.requests import PersonRequest
from server.challenges.models import Phase
from server.challenges.revealed import COMPARED
from server.pages import comparison, place
from server.pages.answers import answer
from server.submissions import feedback
from server.submissions.feedback import Sight
from server.submissions.models import Status, Submission


@require_safe
@login_required
def compare(request: PersonRequest, slug: str) -> HttpResponse:
    """Those named in the address; without names the team's two best."""
    here = place.find(request, slug)
    team, phase = here.own_team(), here.open_phase()
    seen = feedback.sight(phase, viewer=request.user, now=here.now)
    own = feedback.with_scores(Submission.objects.filter(team=team, phase=phase, status=Status.SCORED))
    entries = list(own[:COMPARED])
    a, b = (None, None) if seen.ladder else chosen(request, entries, phase, seen)
    context: dict[str, Any] = {
        "place": here,
        "now": here.now,
        "entries": [(one, headline(one, phase, seen)) for one in entries],
        "ladder": seen.ladder,  # it hides small differences until the end, so nothing may measure them
        "a": a,
        "b": b,
        "differences": comparison.compare(a, b, seen) if a and b else [],
        "decimals": seen.decimals,
        "track": phase.declared_track,
        "by_class": seen.classes,
    }
    return answer(request, "challenge/compare.html", context)


def chosen(
    request: PersonRequest, entries: Sequence[Submission], phase: Phase, seen: Sight
) -> tuple[Submission | None, Submission | None]:
    """A and B: as named, else the best of those that are left, B before A. Another team's does not exist."""
    named = {letter: named_entry(request.GET.get(letter, ""), entries) for letter in "ab"}
    best = sorted(entries, key=lambda one: -(headline(one, phase, seen) or 0.0))
    for letter in "ba":
        left = [one for one in best if one not in named.values()]
        named[letter] = named[letter] or next(iter(left), None)
    return named["a"], named["b"]


def named_entry(name: str, entries: Sequence[Submission]) -> Submission | None:
    found = next((one for one in entries if str(one.pk) == name), None)
    if name and found is None:
        raise Http404("your team has no such scored submission")
    return found


def headline(one: Submission, phase: Phase, seen: Sight) -> float | None:
    return feedback.scores_in(one, seen).get("public", {}).get(phase.declared_track.headline)
