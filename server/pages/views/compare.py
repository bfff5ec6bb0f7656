"""The page that compares two submissions of one team."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.accounts.requests import PersonRequest
from server.challenges.feedback_leakage import MAX_COMPARED
from server.pages.challenge_context import find_context
from server.pages.submission.comparison import differences
from server.submissions import feedback
from server.submissions.feedback import ScoreAccess
from server.submissions.models import Status, Submission

SAME = "A and B are the same submission. Choose two different submissions."
DIFFERENT_SIGNATURES = "These submissions were scored with different signatures, so their scores cannot be compared."


@require_safe
@login_required
def compare(request: PersonRequest, slug: str) -> HttpResponse:
    """Compare two of the team's submissions. If the query string names none, the two best ones are compared."""
    current = find_context(request, slug)
    team, phase = current.required_team(), current.required_phase()
    access = feedback.score_access(phase, viewer=request.user, now=current.now)
    context: dict[str, Any] = {"current": current, "now": current.now}
    # Until the phase ends, ladder feedback hides small differences, so submissions cannot be compared.
    if access.ladder:
        return render(request, "compare/compare.html", context | {"is_ladder": True})
    own = Submission.objects.filter(team=team, phase=phase, status=Status.SCORED)
    submissions = list(own.select_related("phase__challenge", "team")[:MAX_COMPARED])
    feedback.load_scores(submissions)
    scores = {one.pk: headline_score(one, access) for one in submissions}
    best_first = sorted(submissions, key=lambda one: -(scores[one.pk] or 0.0))
    a, b = requested_pair(letters_of(request.GET), best_first)
    found = differences(a, b, access) if a and b and a != b else []
    context |= {
        "choices": [("a", "A", a), ("b", "B", b)] if a and b else [],
        "submissions": [(one, scores[one.pk]) for one in submissions],
        "differences": found,
        "message": "" if found else SAME if a == b else DIFFERENT_SIGNATURES,
        "no_classes": a != b and not access.classes,
        "decimals": access.decimals,
        "track": phase.declared_track,
    }
    return render(request, "compare/compare.html", context)


def letters_of(parameters: QueryDict) -> dict[str, str]:
    """Return the ids of the two submissions to compare, A and B, from the query parameters.

    The parameters `a` and `b` contain the ids. If they are missing, the first two values of the parameter `pick` are
    used. They are the ids of submissions that the user selected in the list of submissions. The list shows the newest
    submission first, so the first value is B.
    """
    b, a = (*parameters.getlist("pick")[:2], "", "")[:2]
    return {"a": parameters.get("a", a), "b": parameters.get("b", b)}


def requested_pair(
    parameters: Mapping[str, str], best_first: Sequence[Submission]
) -> tuple[Submission | None, Submission | None]:
    """Return the two submissions to compare, A and B.

    If the parameters name only one submission, it is compared with the team's best other submission. If they name none,
    A and B are the team's two best submissions, and B is the better one.
    """
    chosen = {letter: requested(parameters.get(letter, ""), best_first) for letter in "ab"}
    for letter in "ba":
        others = [one for one in best_first if one not in chosen.values()]
        chosen[letter] = chosen[letter] or next(iter(others), None)
    return chosen["a"], chosen["b"]


def requested(pk: str, submissions: Sequence[Submission]) -> Submission | None:
    """Return the submission with the given id, or None if the id is empty. Raises Http404 if the id is unknown."""
    found = next((one for one in submissions if str(one.pk) == pk), None)
    if pk and found is None:
        raise Http404("your team has no such scored submission")
    return found


def headline_score(one: Submission, access: ScoreAccess) -> float | None:
    return feedback.scores_in(one, access).get("public", {}).get(one.phase.declared_track.headline)
