"""API views for downloads: the check kit of a phase, its template submission, and its list of possible answers."""

from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from server.api.lookup import phase_at
from server.api.schema import COUNTED, refusals


class CheckKit(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="read_kit",
        responses={200: OpenApiTypes.OBJECT, **refusals("not_found", *COUNTED)},
    )
    def get(self, request: Request, slug: str, phase: str) -> FileResponse:
        """Download the check kit of a phase.

        With the kit, `podium check --kit FILE` finds every defect that the server would find. The kit contains the
        image ids, the labels with their names, the parameters and the file limits. The status is 404 until the kit has
        been created.
        """
        found = phase_at(request, slug, phase)
        if not found.kit:
            raise Http404
        name = found.download_name("kit.json")
        return FileResponse(found.kit.open("rb"), filename=name, content_type="application/json")


class Template(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="read_template",
        responses={(200, "*/*"): OpenApiTypes.BINARY, **refusals("not_found", *COUNTED)},
    )
    def get(self, request: Request, slug: str, phase: str) -> FileResponse:
        """Download the template submission of a phase, which contains every image but no predictions."""
        found = phase_at(request, slug, phase)
        if not found.sample_submission:
            raise Http404
        name = found.download_name(f"template.{found.declared_track.form.suffix}")
        return FileResponse(found.sample_submission.open("rb"), as_attachment=True, filename=name)


class Candidates(APIView):
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="read_candidates",
        responses={200: OpenApiTypes.OBJECT, **refusals("not_found", *COUNTED)},
    )
    def get(self, request: Request, slug: str, phase: str) -> FileResponse:
        """Download the list of candidates for a phase: all possible answers, which a submission has to rank."""
        found = phase_at(request, slug, phase)
        if not found.candidates:
            raise Http404
        name = found.download_name("candidates.json")
        return FileResponse(found.candidates.open("rb"), filename=name, content_type="application/json")
