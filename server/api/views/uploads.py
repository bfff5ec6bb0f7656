"""API views for resumable uploads (tus 1.0.0, with the extensions creation, expiration and termination)."""

from io import BytesIO
from typing import cast
from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.api import tus
from server.api.authentication import PersonRequest
from server.api.idempotency import IDEMPOTENCY_KEY, idempotency_key
from server.api.lookup import own_team, phase_at
from server.api.schema import refusals
from server.api.serializers.submissions import PartialUploadSerializer
from server.api.views.submissions import SUBMITTING
from server.challenges.models import Phase
from server.submissions import partial_uploads
from server.submissions.partial_uploads import PartialUpload
from server.submissions.services import intake, resumable
from server.submissions.services.resumable import Readable


def upload_at(request: PersonRequest, upload_id: UUID) -> tuple[PartialUpload, Phase]:
    """Return the user's resumable upload with the given id, and its phase. Raises Http404 if there is none."""
    upload = partial_uploads.find(upload_id, user=request.user.pk)
    phase = Phase.objects.select_related("challenge").filter(pk=upload.phase).first() if upload else None
    if upload is None or phase is None:
        raise Http404
    return upload, phase_at(request, phase.challenge.slug, phase.slug)


def serialized(upload: PartialUpload, request: Request, phase: Phase) -> dict[str, object]:
    is_submitted = not upload.content.exists()
    team = own_team(request, phase)
    submission = intake.submitted_before(team=team, phase=phase, key=upload.key) if is_submitted else None
    fields = {name: getattr(upload, name) for name in ("id", "length", "offset", "expires_at")}
    return dict(PartialUploadSerializer({**fields, "submission": submission and submission.pk}).data)


class TusView(APIView):
    throttle_classes = ()

    def options(self, request: HttpRequest, *args: object, **kwargs: object) -> Response:
        """Return a response whose headers contain the version and the extensions of the tus protocol."""
        return Response(status=204, headers=tus.capabilities())


class Uploads(TusView):
    @extend_schema(
        operation_id="begin_upload",
        parameters=[tus.TUS_RESUMABLE, tus.UPLOAD_LENGTH, tus.UPLOAD_METADATA, IDEMPOTENCY_KEY],
        request=None,
        responses={
            201: PartialUploadSerializer,
            **refusals("not_found", "unsupported_version", "file_too_large", *SUBMITTING),
        },
    )
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Begin a resumable upload (tus 1.0.0). Send the bytes in PATCH requests to the URL in the Location header."""
        found = phase_at(request, slug, phase)
        team = own_team(request, found)
        tus.check_version(request)
        about = tus.metadata_in(request)
        upload = resumable.begin(
            user=request.user,
            team=team,
            phase=found,
            length=tus.number_in(request, "Upload-Length"),
            file_name=about.get("filename", ""),
            note=about.get("note", ""),
            key=idempotency_key(request),
            force=about.get("force", "") == "true",
        )
        location = request.build_absolute_uri(reverse("api_upload", args=[upload.id]))
        headers = {**tus.headers_of(upload), "Location": location}
        return Response(serialized(upload, request, found), status=201, headers=headers)


class OneUpload(TusView):
    parser_classes = (tus.OffsetStreamParser,)

    @extend_schema(
        operation_id="read_upload",
        responses={200: PartialUploadSerializer, **refusals("not_found", "not_a_member", "awaiting_approval")},
    )
    def get(self, request: PersonRequest, upload_id: UUID) -> Response:
        """Return how much of an upload the server has received and, once it is complete, the submission's ID.

        A HEAD request returns only the headers.
        """
        upload, phase = upload_at(request, upload_id)
        return Response(serialized(upload, request, phase), headers=tus.headers_of(upload))

    @extend_schema(
        operation_id="continue_upload",
        parameters=[tus.TUS_RESUMABLE, tus.UPLOAD_OFFSET],
        request={tus.OffsetStreamParser.media_type: OpenApiTypes.BINARY},
        responses={
            204: None,
            **refusals(
                *("not_found", "unsupported_version", "wrong_offset", "file_too_large", "unsupported_media_type"),
                *SUBMITTING,
            ),
        },
    )
    def patch(self, request: PersonRequest, upload_id: UUID) -> Response:
        """Append bytes to an upload.

        The file is submitted when the last byte has arrived. Read the upload to get the ID of the submission.
        """
        upload, phase = upload_at(request, upload_id)
        tus.check_version(request)
        count = int(request.META.get("CONTENT_LENGTH") or 0)
        resumable.receive(
            upload,
            user=request.user,
            team=own_team(request, phase),
            phase=phase,
            offset=tus.number_in(request, "Upload-Offset"),
            count=count,
            body=cast(Readable, request.data) if count else BytesIO(),
        )
        return Response(status=204, headers=tus.headers_of(upload))

    @extend_schema(operation_id="delete_upload", responses={204: None, **refusals("not_found")})
    def delete(self, request: PersonRequest, upload_id: UUID) -> Response:
        """Delete an upload and its bytes. If the file was already submitted, the submission is kept."""
        partial_uploads.discard(upload_at(request, upload_id)[0])
        return Response(status=204, headers={"Tus-Resumable": tus.VERSION})
