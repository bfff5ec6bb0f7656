"""What a submission file must look like, shown by an example that can be copied, and how to score one at home."""

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluator.catalog import Form
from server.challenges.models import Phase
from server.pages import formats, place
from server.submissions.limits import file_limits


@require_safe
def data(request: HttpRequest, slug: str) -> HttpResponse:
    here = place.find(request, slug)
    context = {"place": here, "now": here.now}
    if here.phase:
        context["format"] = formats.describe(here.phase)
        context["limits"] = [*limits(here.phase.declared_track.form), *formats.terms(here.phase)]
    return render(request, "challenge/data.html", context)


@require_safe
def sample(request: HttpRequest, slug: str) -> FileResponse:
    """The phase's sample submission, as a file to save."""
    phase = place.find(request, slug).open_phase()
    if not phase.sample_submission:
        raise Http404("this phase has no sample file")
    return FileResponse(phase.sample_submission.open("rb"), as_attachment=True, filename=sample_name(phase))


@require_safe
def candidates(request: HttpRequest, slug: str) -> FileResponse:
    """What a submission of the phase chooses from, as a file to save."""
    phase = place.find(request, slug).open_phase()
    if not phase.candidates:
        raise Http404("this phase has no list of candidates")
    name = f"{phase.challenge.slug}-{phase.slug}-candidates.json"
    return FileResponse(phase.candidates.open("rb"), as_attachment=True, filename=name)


def sample_name(phase: Phase) -> str:
    return f"{phase.challenge.slug}-{phase.slug}-sample.{phase.declared_track.form.suffix}"


def limits(form: Form) -> list[tuple[str, str]]:
    """What a file may hold, in words."""
    upload, seconds = settings.UPLOAD_MAX_BYTES, settings.EVALUATION_SECONDS
    return formats.limits(file_limits(), form=form, upload=upload, seconds=seconds)
