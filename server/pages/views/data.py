"""What a submission file must look like, shown by an example that can be copied, and how to score one at home."""

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from server.challenges.models import Phase
from server.pages import formats, place
from server.submissions.limits import file_limits


def data(request: HttpRequest, slug: str) -> HttpResponse:
    here = place.find(request, slug)
    context = {"place": here, "now": here.now}
    if here.phase:
        context["format"] = formats.describe(here.phase)
        context["limits"] = limits()
    return render(request, "challenge/data.html", context)


def sample(request: HttpRequest, slug: str) -> FileResponse:
    """The phase's sample submission, as a file to save."""
    phase = place.find(request, slug).open_phase()
    if not phase.sample_submission:
        raise Http404("this phase has no sample file")
    return FileResponse(phase.sample_submission.open("rb"), as_attachment=True, filename=sample_name(phase))


def sample_name(phase: Phase) -> str:
    return f"{phase.challenge.slug}-{phase.slug}-sample.csv"


def limits() -> list[tuple[str, str]]:
    """What a file may hold, in words."""
    return formats.limits(file_limits(), upload=settings.UPLOAD_MAX_BYTES, seconds=settings.EVALUATION_SECONDS)
