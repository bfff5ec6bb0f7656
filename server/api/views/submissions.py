"""Submissions: upload, status, report, cancelling, and the choice of final submissions."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.api.authentication import PersonRequest
from server.api.lookup import own_team, phase_at, submission_at
from server.api.pagination import Pages, list_response
from server.api.schema import PAGE, WITH_A_BODY, refusals
from server.api.serializers.inputs import validated
from server.api.serializers.submissions import ChangeInput, ReportSerializer, SubmissionSerializer, UploadInput
from server.challenges.models import Phase
from server.clock import database_now
from server.errors import Refused
from server.leaderboards.standings import standings
from server.submissions.feedback import score_access, with_scores
from server.submissions.models import Submission
from server.submissions.reports import visible_report
from server.submissions.services import admission, choices, intake, lifecycle

SUBMITTING = (
    "not_a_member",
    "awaiting_approval",
    "duplicate_file",
    "phase_closed",
    "phase_not_open",
    "quota_exhausted",
    "storage_exhausted",
    "rate_limited",
    "no_space",
)


def serialized(submissions: Sequence[Submission], phase: Phase, request: Request) -> list[dict[str, Any]]:
    """Return submissions of one phase as the user may see them; the leaderboard is read only once."""
    now = database_now()
    context = {
        "access": score_access(phase, viewer=request.user, now=now),
        "standings": standings(phase, submissions, now=now),
    }
    return list(SubmissionSerializer(submissions, many=True, context=context).data)


def serialized_one(submission_id: UUID, request: Request) -> dict[str, Any]:
    submission = submission_at(request, submission_id)
    return serialized([submission], submission.phase, request)[0]


class OwnSubmissions(APIView):
    # The quota limits uploads, so they are not throttled.
    throttle_classes = ()
    parser_classes = (MultiPartParser,)
    pagination_class = Pages

    @extend_schema(
        operation_id="list_submissions",
        parameters=[PAGE],
        responses={200: SubmissionSerializer(many=True), **refusals("not_found", "not_a_member", "awaiting_approval")},
    )
    def get(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """List your team's submissions to this phase, newest first."""
        found = phase_at(request, slug, phase)
        own = with_scores(Submission.objects.filter(phase=found, team=own_team(request, found)))
        return list_response(own, request, lambda page: serialized(page, found, request))

    @extend_schema(
        operation_id="submit",
        request={"multipart/form-data": UploadInput},
        responses={201: SubmissionSerializer, **refusals("not_found", *SUBMITTING, *WITH_A_BODY)},
    )
    def post(self, request: PersonRequest, slug: str, phase: str) -> Response:
        """Submit a file. Its content is checked later, when it is scored; read the submission to follow its status."""
        found = phase_at(request, slug, phase)
        team = own_team(request, found)
        now = database_now()
        admission.refuse_early(team=team, phase=found, now=now)
        admission.take_upload_slots(user=request.user, team=team, phase=found, now=now)
        given = validated(UploadInput, request)
        submission = intake.submit(user=request.user, team=team, phase=found, file=given["file"], note=given["note"])
        return Response(serialized_one(submission.pk, request), status=201)


class SubmissionDetail(APIView):
    throttle_classes = ()

    @extend_schema(operation_id="read_submission", responses={200: SubmissionSerializer, **refusals("not_found")})
    def get(self, request: PersonRequest, submission_id: UUID) -> Response:
        """Return the status of a submission, its scores or defects, and its rank."""
        return Response(serialized_one(submission_id, request))

    @extend_schema(
        operation_id="change_submission",
        request=ChangeInput,
        responses={200: SubmissionSerializer, **refusals("not_found", "not_a_member", "phase_closed", *WITH_A_BODY)},
    )
    def patch(self, request: PersonRequest, submission_id: UUID) -> Response:
        """Change the note of a submission, or whether it is final."""
        submission = submission_at(request, submission_id)
        changes = validated(ChangeInput, request)
        with transaction.atomic():
            if "note" in changes:
                choices.set_note(submission=submission, by=request.user, note=changes["note"])
            if "final" in changes:
                choices.set_final(submission=submission, by=request.user, final=changes["final"])
        return Response(serialized_one(submission_id, request))


class Report(APIView):
    throttle_classes = ()

    @extend_schema(operation_id="read_report", responses={200: ReportSerializer, **refusals("not_found")})
    def get(self, request: PersonRequest, submission_id: UUID) -> Response:
        """Return all metrics by split, and the results per class if the organizers show them."""
        submission = submission_at(request, submission_id)
        report = visible_report(submission, viewer=request.user, now=database_now())
        if report is None:
            raise Refused("not_found", f"This submission has no report. Its status is {submission.status}.")
        return Response(report)


class Cancel(APIView):
    @extend_schema(
        operation_id="cancel_submission",
        request=None,
        responses={200: SubmissionSerializer, **refusals("not_found", "not_cancellable", "rate_limited")},
    )
    def post(self, request: PersonRequest, submission_id: UUID) -> Response:
        """Cancel a submission that is queued or running. This cannot be undone."""
        lifecycle.cancel(submission=submission_at(request, submission_id), by=request.user)
        return Response(serialized_one(submission_id, request))
