"""API serializers for submissions and reports."""

from datetime import datetime
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evaluator.digits import Interval
from evaluator.problems import NOTHING_TO_SCORE
from server.api.serializers.fields import NullIfEmpty, WholeSeconds
from server.api.serializers.inputs import StrictBoolean, StrictInput, StrictText
from server.leaderboards.standings import Standing
from server.submissions.defect_advice import ADVICE
from server.submissions.feedback import ScoreAccess, current_evaluation, intervals_in, scores_in, shown_evaluation
from server.submissions.models import BOOTSTRAPPING, STAGES, Failure, Fault, Status, Submission
from server.submissions.reports import ExplanationState
from server.submissions.services.retention import removal_time


class UploadInput(StrictInput):
    """A file to submit, with a note. An empty file is accepted here, and rejected when it is scored."""

    file = serializers.FileField(allow_empty_file=True, help_text="the predictions file, plain or compressed with gzip")
    note = StrictText(required=False, allow_blank=True, default="", help_text="visible to your team only")
    force = serializers.BooleanField(
        default=False,
        help_text="score the file, and use quota, even if no prediction can earn a score; otherwise such a file is "
        f"rejected with `{NOTHING_TO_SCORE}` and uses no quota",
    )


class PartialUploadSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    length = serializers.IntegerField(help_text="size of the complete file in bytes")
    offset = serializers.IntegerField(help_text="number of bytes received")
    expires_at = serializers.DateTimeField(
        help_text="when the upload expires and its bytes are removed; each request that adds bytes extends this time"
    )
    submission = serializers.UUIDField(allow_null=True, help_text="null until the file is complete and accepted")


class ChangeInput(StrictInput):
    final = StrictBoolean(
        required=False, help_text="whether the submission is final and therefore counts for the private leaderboard"
    )
    note = StrictText(required=False, allow_blank=True)
    method = StrictText(required=False, allow_blank=True, help_text="name of the method")
    paper_url = StrictText(
        required=False, allow_blank=True, help_text="a web address that starts with https:// or http://"
    )
    code_url = StrictText(
        required=False, allow_blank=True, help_text="a web address that starts with https:// or http://"
    )


class DefectSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    line = serializers.IntegerField(allow_null=True, help_text="the header is line 1")
    column = serializers.CharField(allow_null=True)
    image = serializers.CharField(allow_null=True)
    token = serializers.IntegerField(allow_null=True, help_text="position in a prediction string, from 1")


class NoticeSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    count = serializers.IntegerField()


class ProblemsSerializer(serializers.Serializer[Any]):
    errors = DefectSerializer(many=True, help_text="the first 20 defects of each code")  # type: ignore[assignment]
    total = serializers.IntegerField(help_text="number of defects counted")
    more = serializers.BooleanField(
        required=False,
        help_text="whether the check stopped at the limit on defects or rows; if so, the file may have more defects",
    )
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="number of defects by code")
    notices = NoticeSerializer(many=True, help_text="properties of the file that are allowed, but may be mistakes")
    advice = serializers.DictField(child=serializers.CharField(), help_text="how to fix the defects of each code")


class SubmissionSerializer(serializers.Serializer[Any]):
    # The serializer context must contain `access`, which defines which scores the user may see, and `standings`, which
    # maps submission IDs to leaderboard ranks.
    id = serializers.UUIDField()
    challenge = serializers.SlugField(source="phase.challenge.slug")
    phase = serializers.SlugField(source="phase.slug")
    team = serializers.CharField(source="team.name")
    status = serializers.ChoiceField(choices=Status.choices)
    stage = NullIfEmpty(
        help_text=f"while running: {', '.join(STAGES)}; while intervals are computed: {BOOTSTRAPPING}; otherwise null"
    )
    progress = serializers.FloatField(min_value=0, max_value=1)
    note = serializers.CharField()
    method = serializers.CharField(help_text="name of the method; empty if the team has not entered it")
    paper_url = serializers.CharField(help_text="URL of a paper about the method; empty if there is none")
    code_url = serializers.CharField(help_text="URL of the source code of the method; empty if there is none")
    final = serializers.BooleanField()
    forced = serializers.BooleanField(help_text="whether the submission was uploaded with `force`")
    file_name = serializers.CharField()
    sha256 = serializers.CharField()
    received_at = serializers.DateTimeField()
    scored_at = WholeSeconds(allow_null=True)
    attempts = serializers.IntegerField(help_text="how many times scoring has started")
    file_kept = serializers.BooleanField(source="file", help_text="false if the stored file has been removed")
    file_removed_at = serializers.SerializerMethodField(
        help_text="when the file will be removed; null if it is kept or has been removed"
    )
    signature = serializers.SerializerMethodField(help_text="how the score was computed; null if not scored")
    scores = serializers.SerializerMethodField(help_text="score by split and metric; null if undefined")
    intervals = serializers.SerializerMethodField(help_text="95% confidence intervals, by split and metric")
    scores_of = serializers.SerializerMethodField(
        help_text="the submission whose public scores are shown: this one or, under ladder feedback, your team's "
        "best; null if there is none"
    )
    problems = serializers.SerializerMethodField()
    on_board = serializers.SerializerMethodField(
        help_text="whether the submission is your team's entry on the leaderboard"
    )
    why_not = serializers.SerializerMethodField(help_text="why the submission is not on the leaderboard; null if it is")
    board = serializers.SerializerMethodField(
        help_text="the split of the leaderboard that `on_board` and `rank` refer to"
    )
    rank = serializers.SerializerMethodField(
        help_text="null for a baseline, or if the submission is not on the leaderboard"
    )
    rank_low = serializers.SerializerMethodField(
        help_text="the best rank that the submission could have, with 95% confidence; null if not computed"
    )
    rank_high = serializers.SerializerMethodField(
        help_text="the worst rank that the submission could have, with 95% confidence; null if not computed"
    )
    fault = NullIfEmpty(help_text=f"who has to fix the problem: {', '.join(filter(None, Fault.values))}")
    failure = NullIfEmpty(help_text="what went wrong and what to do")
    failure_code = NullIfEmpty(help_text=f"one of {', '.join(Failure.values)}")

    @property
    def access(self) -> ScoreAccess:
        seen: ScoreAccess = self.context["access"]
        return seen

    def standing(self, submission: Submission) -> Standing:
        standing: Standing = self.context["standings"][submission.pk]
        return standing

    def get_signature(self, submission: Submission) -> str | None:
        evaluation = current_evaluation(submission)
        return evaluation.signature if evaluation else None

    def get_file_removed_at(self, submission: Submission) -> datetime | None:
        return removal_time(submission)

    def get_scores(self, submission: Submission) -> dict[str, dict[str, float | None]]:
        return scores_in(submission, self.access)

    def get_intervals(self, submission: Submission) -> dict[str, dict[str, Interval]]:
        return intervals_in(submission, self.access)

    def get_scores_of(self, submission: Submission) -> UUID | None:
        evaluation = shown_evaluation(submission, self.access)
        return evaluation.submission_id if evaluation else None

    @extend_schema_field(ProblemsSerializer)
    def get_problems(self, submission: Submission) -> dict[str, Any]:
        found = {"errors": [], "total": 0, "counts": {}, "notices": [], **submission.problems}
        return {**found, "advice": {code: ADVICE[code] for code in found["counts"] if code in ADVICE}}

    def get_on_board(self, submission: Submission) -> bool:
        return self.standing(submission).on_board

    def get_why_not(self, submission: Submission) -> str | None:
        return self.standing(submission).why_not or None

    def get_board(self, submission: Submission) -> str:
        return self.standing(submission).split

    def get_rank(self, submission: Submission) -> int | None:
        return self.standing(submission).rank

    def get_rank_low(self, submission: Submission) -> int | None:
        found = self.standing(submission).rank_interval
        return found.low if found else None

    def get_rank_high(self, submission: Submission) -> int | None:
        found = self.standing(submission).rank_interval
        return found.high if found else None


class SplitReportSerializer(serializers.Serializer[Any]):
    headline = serializers.CharField()
    metrics = serializers.DictField(child=serializers.FloatField(allow_null=True))
    intervals = serializers.DictField(child=serializers.ListField(child=serializers.FloatField()))
    classes = serializers.ListField(
        child=serializers.DictField(),
        allow_null=True,
        help_text="one row per class, with the columns of the track; null if withheld",
    )
    tables = serializers.DictField(
        child=serializers.ListField(child=serializers.DictField()),
        help_text="further tables of the track and of the explanation, by name; empty if withheld",
    )
    left_out = serializers.DictField(
        child=serializers.IntegerField(), help_text="number of rows omitted from each table"
    )
    curves = serializers.ListField(
        child=serializers.DictField(),
        help_text="precision/recall curves: `label` (null for the mean over classes), `name`, `curve` (the metric that "
        "is the area under the curve), `area`, and the lists `confidence`, `recall` and `precision`",
    )


class ReportSerializer(serializers.Serializer[Any]):
    track = serializers.CharField()
    signature = serializers.CharField()
    parameters = serializers.DictField()
    explanation = serializers.ChoiceField(
        choices=[state.value for state in ExplanationState],
        help_text="state of the tables and curves that explain the score",
    )
    splits = serializers.DictField(child=SplitReportSerializer())
    notices = NoticeSerializer(many=True)
    withheld = serializers.CharField(
        allow_null=True, help_text="why classes and explanations are withheld; null if they are included"
    )
