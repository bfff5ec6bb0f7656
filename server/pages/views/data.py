"""The data page of a challenge: the format of a submission, and how to check and score a file locally."""

from typing import Any

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from server.challenges.models import Phase
from server.pages.challenge.commands import install_command, submit_command
from server.pages.challenge.file_format import DescriptionList, file_format, limit_list, submission_terms
from server.pages.challenge_context import JoinState, find_context
from server.submissions.limits import file_limits


@require_safe
def data(request: HttpRequest, slug: str) -> HttpResponse:
    current = find_context(request, slug)
    context: dict[str, Any] = {"current": current, "now": current.now}
    if current.phase:
        context |= {
            "format": file_format(current.phase),
            "limits": limits_and_terms(current.phase),
            "install": install_command(),
            "submit_command": submit_command(current.phase, joins=current.join_state == JoinState.OPEN),
        }
    return render(request, "challenge/data.html", context)


def limits_and_terms(phase: Phase) -> DescriptionList:
    limits = limit_list(
        file_limits(),
        form=phase.declared_track.form,
        upload_bytes=settings.UPLOAD_MAX_BYTES,
        scoring_seconds=settings.EVALUATION_SECONDS,
    )
    return [*limits, *submission_terms(phase)]


@require_safe
def sample(request: HttpRequest, slug: str) -> FileResponse:
    """Serve the template submission of a phase, which contains every image but no predictions."""
    phase = find_context(request, slug).required_phase()
    if not phase.sample_submission:
        raise Http404("this phase has no template file")
    name = phase.download_name(f"template.{phase.declared_track.form.suffix}")
    return FileResponse(phase.sample_submission.open("rb"), as_attachment=True, filename=name)


@require_safe
def kit(request: HttpRequest, slug: str) -> FileResponse:
    """Serve the check kit of a phase: a file that lets `podium check` find every defect in a submission offline."""
    phase = find_context(request, slug).required_phase()
    if not phase.kit:
        raise Http404("this phase has no check kit yet")
    return FileResponse(phase.kit.open("rb"), as_attachment=True, filename=phase.download_name("kit.json"))


@require_safe
def candidates(request: HttpRequest, slug: str) -> FileResponse:
    """Serve the list of candidates for a phase: all possible answers, which a submission has to rank."""
    phase = find_context(request, slug).required_phase()
    if not phase.candidates:
        raise Http404("this phase has no list of candidates")
    name = phase.download_name("candidates.json")
    return FileResponse(phase.candidates.open("rb"), as_attachment=True, filename=name)
