"""API serializers for challenges, phases, memberships and quota."""

from dataclasses import asdict
from typing import Any, TypedDict

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evaluator.catalog import TRACKS
from server.api.serializers.fields import NullIfEmpty, WholeSeconds
from server.api.serializers.inputs import StrictBoolean, StrictInput, StrictText
from server.challenges.gate import may_open
from server.challenges.models import Challenge, JoinRequest, Membership, Phase
from server.submissions.limits import file_limits
from server.submissions.services.quota import Quota
from server.submissions.services.retention import StorageUse


class LimitsSerializer(serializers.Serializer[Any]):
    """Limits for a submitted file. A file that exceeds a limit is not accepted, or not scored."""

    upload_bytes = serializers.IntegerField(help_text="size of the uploaded file")
    decompressed_bytes = serializers.IntegerField()
    decompressed_ratio = serializers.IntegerField(help_text="maximum ratio of the uncompressed to the compressed size")
    line_bytes = serializers.IntegerField()
    number_characters = serializers.IntegerField()
    text_characters = serializers.IntegerField(help_text="length of an ID or label")
    boxes = serializers.IntegerField(
        help_text="number of predictions, which are rows or groups of tokens in prediction strings"
    )
    images = serializers.IntegerField(help_text="number of rows, in a file with one row per image")
    scoring_seconds = serializers.IntegerField()


class ActiveTruth(TypedDict):
    version: int
    sha256: str


class PhaseSerializer(serializers.Serializer[Phase]):
    # The serializer context must contain `now`, the database's current time.
    slug = serializers.SlugField()
    title = serializers.CharField()
    track = serializers.ChoiceField(choices=sorted(TRACKS))
    parameters = serializers.SerializerMethodField(help_text="all parameters, including the track's defaults")
    headline = serializers.CharField(source="declared_track.headline", help_text="the metric that determines the rank")
    truth = serializers.SerializerMethodField(
        help_text="the active version of the ground truth; null if there is none yet"
    )
    open = serializers.SerializerMethodField(help_text="whether the phase accepts submissions now")
    opens_at = serializers.DateTimeField(source="opening")
    closes_at = serializers.DateTimeField(source="closing", allow_null=True)
    limits = serializers.SerializerMethodField(help_text="limits of a submitted file")

    @extend_schema_field(LimitsSerializer)
    def get_limits(self, phase: Phase) -> dict[str, int]:
        upload = {"upload_bytes": settings.UPLOAD_MAX_BYTES, "scoring_seconds": settings.EVALUATION_SECONDS}
        return upload | asdict(file_limits())

    def get_parameters(self, phase: Phase) -> dict[str, Any]:
        return phase.declared_track.resolve(phase.parameters)

    def get_truth(self, phase: Phase) -> ActiveTruth | None:
        truth = phase.truth
        return ActiveTruth(version=truth.version, sha256=truth.sha256) if truth else None

    def get_open(self, phase: Phase) -> bool:
        return phase.is_open(self.context["now"]) and may_open(phase) and not phase.is_paused


class ChallengeSerializer(serializers.Serializer[Any]):
    slug = serializers.SlugField()
    title = serializers.CharField()
    summary = serializers.CharField()
    opens_at = serializers.DateTimeField()
    closes_at = serializers.DateTimeField(allow_null=True)
    join_until = serializers.DateTimeField(allow_null=True)
    visibility = serializers.ChoiceField(choices=Challenge.Visibility.choices)
    registration = serializers.ChoiceField(choices=Challenge.Registration.choices)
    contact = serializers.CharField(help_text="how to contact the organizers: an email address or a URL; may be empty")
    phases = PhaseSerializer(many=True)


class JoinInput(StrictInput):
    accept_rules = StrictBoolean(
        default=False, help_text="must be true: you have read and accept the rules of the challenge"
    )
    team = StrictText(required=False, allow_blank=True, help_text="name of your team; default: your username")


class MembershipSerializer(serializers.Serializer[Membership]):
    challenge = serializers.SlugField(source="challenge.slug")
    team = serializers.CharField(source="team.name")
    captain = serializers.BooleanField(source="is_captain")
    joined_at = serializers.DateTimeField()


class JoinRequestSerializer(serializers.Serializer[JoinRequest]):
    id = serializers.IntegerField()
    challenge = serializers.SlugField(source="challenge.slug")
    user = serializers.CharField(source="user.username")
    team = serializers.CharField(
        source="team_name", help_text="the requested team name; if empty, the username is used"
    )
    status = serializers.ChoiceField(choices=JoinRequest.Status.choices)
    requested_at = serializers.DateTimeField()


class DecisionInput(StrictInput):
    approve = StrictBoolean(help_text="true to approve the request, false to decline it")


class DecisionSerializer(serializers.Serializer[Any]):
    user = serializers.CharField()
    approved = serializers.BooleanField()


class StatementLineSerializer(serializers.Serializer[Any]):
    at = WholeSeconds()
    amount = serializers.IntegerField(help_text="1 if a submission used quota; -1 if its quota was given back")
    reason = serializers.CharField()
    day = serializers.DateField(help_text="the day (UTC) whose quota changed")
    submission = serializers.UUIDField(source="submission_id")
    file_name = serializers.CharField(source="submission.file_name")


class QuotaSerializer(serializers.Serializer[Quota]):
    # The serializer context must contain `share`: the storage space that the team uses, and the team's limit.
    per_day = serializers.IntegerField(
        help_text="including the submissions that the organizers granted to your team for today"
    )
    used = serializers.IntegerField(help_text="submissions that count against today's quota (UTC)")
    left = serializers.IntegerField()
    attempts_per_day = serializers.IntegerField(
        help_text="maximum number of uploads per day (UTC), including those whose quota was given back"
    )
    attempts_left = serializers.IntegerField()
    total = serializers.IntegerField(
        allow_null=True, help_text="including the submissions that the organizers granted to your team"
    )
    total_left = serializers.IntegerField(allow_null=True)
    resets_at = serializers.DateTimeField()
    next_allowed_at = serializers.DateTimeField(
        allow_null=True, help_text="null if your team can submit now or can no longer submit; see `reason`"
    )
    closes_at = serializers.DateTimeField(
        allow_null=True,
        help_text="when the phase closes for your team; later than the end of the phase if your team has an extension",
    )
    reason = NullIfEmpty(help_text="why your team cannot submit now; null if your team can submit")
    storage_used_bytes = serializers.SerializerMethodField(help_text="total size of your team's stored files")
    storage_allowed_bytes = serializers.SerializerMethodField(
        help_text="storage limit of your team; a file that would exceed it is rejected"
    )

    def get_storage_used_bytes(self, state: Quota) -> int:
        return self.share.used

    def get_storage_allowed_bytes(self, state: Quota) -> int:
        return self.share.allowed

    @property
    def share(self) -> StorageUse:
        share: StorageUse = self.context["share"]
        return share
