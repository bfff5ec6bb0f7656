"""API views for submissions: upload, status, report, download, cancellation, and changes to their descriptions."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from server.api.authentication import PersonRequest
from server.api.idempotency import IDEMPOTENCY_KEY, idempotency_key
from server.api.lookup import own_team, phase_at, read_phase_at, submission_at
from server.api.pagination import Pages, list_response
from server.api.schema import COUNTED, PAGE, WITH_A_BODY, refusals
from server.api.serializers.inputs import validated
from server.api.serializers.submissions import ChangeInput, ReportSerializer, SubmissionSerializer, UploadInput
from server.challenges.models import Phase
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.standings import standings
from server.submissions.feedback import ScoreAccess, load_scores, score_access
from server.submissions.models import Submission
from server.submissions.reports import visible_report
from server.submissions.services import admission, choices, intake, lifecycle, methods, own_files

SUBMITTING = (
    "not_a_member",
    "awaiting_approval",
    "duplicate_file",
    "key_reused",
    "phase_closed",
    "phase_not_open",
    "quota_exhausted",
    "storage_exhausted",
    "rate_limited",
    "no_space",
)

METHOD = ("method", "paper_url", "code_url")


def serialized(
    submissions: Sequence[Submission], phase: Phase, *, access: ScoreAccess, now: datetime
) -> list[dict[str, Any]]:
    """Return the JSON data of submissions to a phase, limited to what the user may see.

    For speed, the leaderboard is read only once for all submissions.
    """
    context = {"access": access, "standings": standings(phase, submissions, now=now)}
    return list(SubmissionSerializer(submissions, many=True, context=context).data)


def serialized_one(submission_id: UUID, request: Request) -> dict[str, Any]:
    read = submission_at(request, submission_id)
    return serialized([read.submission], read.submission.phase, access=read.access, now=read.now)[0]


class OwnSubmissions(APIView):
    # Uploads have no rate limit, because the quota already limits them.
    throttle_classes = ()
    parser_classes = (MultiPartParser,)
    pagination_class = Pages

    @extend_schema(
        operation_id="list_submissions",
        parameters=[PAGE],
        responses={200: SubmissionSerializer(many=True), **refusals("not_found", "not_a_member", "awaiting_approval")},
    )
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """List your team's submissions to a phase, newest first."""
        found, read = read_phase_at(request, slug, phase)
        team = own_team(request, found)
        access = score_access(found, viewer=request.user, now=read.now, is_organizer=read.is_organizer)

        def serialize(page: list[Submission]) -> list[dict[str, Any]]:
            for one in page:
                one.phase, one.team = found, team
            load_scores(page)
            return serialized(page, found, access=access, now=read.now)

        return list_response(Submission.objects.filter(phase=found, team=team), request, serialize)

    @extend_schema(
        operation_id="submit",
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": UploadInput},
        responses={
            200: SubmissionSerializer,
            201: SubmissionSerializer,
            **refusals("not_found", *SUBMITTING, *WITH_A_BODY),
        },
    )
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Submit a file to a phase.

        The content of the file is checked later, when it is scored. Read the submission to follow its status. If your
        team has used the same Idempotency-Key before, the earlier submission is returned. If the file differs, the
        request is rejected with the error code `key_reused`.
        """
        found = phase_at(request, slug, phase)
        team = own_team(request, found)
        key = idempotency_key(request)
        if earlier := intake.submitted_before(team=team, phase=found, key=key):
            admission.take_account_slot(request.user)
            given = validated(UploadInput, request)
            intake.refuse_other_file(earlier, intake.digest_of(given["file"]), force=given["force"])
            return Response(serialized_one(earlier.pk, request))
        now = database_now()
        admission.refuse_early(team=team, phase=found, now=now)
        admission.take_upload_slots(user=request.user, team=team, phase=found, now=now)
        given = validated(UploadInput, request)
        submission = intake.submit(user=request.user, team=team, phase=found, key=key, **given)
        return Response(serialized_one(submission.pk, request), status=201)


class SubmissionDetail(APIView):
    def get_throttles(self) -> list[BaseThrottle]:
        """Return the rate limits of the request. Changes are limited, but reading one's own submission is not."""
        return [] if self.request.method in SAFE_METHODS else super().get_throttles()

    @extend_schema(operation_id="read_submission", responses={200: SubmissionSerializer, **refusals("not_found")})
    def get(self, request: PersonRequest, submission_id: UUID) -> Response:
        """Return the status of a submission, its scores or defects, and its rank."""
        return Response(serialized_one(submission_id, request))

    @extend_schema(
        operation_id="change_submission",
        request=ChangeInput,
        responses={
            200: SubmissionSerializer,
            **refusals("not_found", "not_a_member", "phase_closed", *COUNTED, *WITH_A_BODY),
        },
    )
    def patch(self, request: PersonRequest, submission_id: UUID) -> Response:
        """Change the note or the method of a submission, or whether it is final."""
        submission = submission_at(request, submission_id).submission
        changes = validated(ChangeInput, request)
        with transaction.atomic():
            # A choice changes leaderboards, which are locked before any audit entry is written; see `audit.record`.
            if "final" in changes:
                choices.set_final(submission=submission, by=request.user, final=changes["final"])
            if "note" in changes:
                choices.set_note(submission=submission, by=request.user, note=changes["note"])
            if method := {name: changes[name] for name in METHOD if name in changes}:
                methods.set_method(submission=submission, by=request.user, **method)
        return Response(serialized_one(submission_id, request))


class Report(APIView):
    throttle_classes = ()

    @extend_schema(operation_id="read_report", responses={200: ReportSerializer, **refusals("not_found")})
    def get(self, request: PersonRequest, submission_id: UUID) -> Response:
        """Return the report on a submission.

        It contains all metrics for each split and, if the organizers show them, the results per class.
        """
        read = submission_at(request, submission_id)
        report = visible_report(read.submission, access=read.access)
        if report is None:
            raise Refused("not_found", f"This submission has no report. Its status is {read.submission.status}.")
        return Response(report)


class OwnFile(APIView):
    @extend_schema(
        operation_id="download_submission",
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            **refusals("not_found", "not_a_member", "file_removed", "file_missing", "rate_limited"),
        },
    )
    def get(self, request: PersonRequest, submission_id: UUID) -> FileResponse:
        """Download the file of a submission, byte for byte as it was uploaded. Only members of its team may do this."""
        return own_files.download(submission=submission_at(request, submission_id).submission, by=request.user)


class Cancel(APIView):
    @extend_schema(
        operation_id="cancel_submission",
        request=None,
        responses={200: SubmissionSerializer, **refusals("not_found", "not_cancellable", "rate_limited")},
    )
    def post(self, request: PersonRequest, submission_id: UUID) -> Response:
        """Cancel a submission that is queued or running. This cannot be undone."""
        lifecycle.cancel(submission=submission_at(request, submission_id).submission, by=request.user)
        return Response(serialized_one(submission_id, request))
