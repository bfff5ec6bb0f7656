"""API serializers for ground truths and rescorings, which only organizers use."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from server.api.serializers.inputs import StrictBoolean, StrictInput, StrictInteger, StrictText
from server.challenges import gate
from server.challenges.models import Phase, Truth
from server.organize.models import REASON_CHARACTERS, SIGNED_CHARACTERS, Rescoring
from server.organize.services import rescoring
from server.organize.services.previews import preview
from server.submissions.feedback import SPLITS

WITHOUT_GATE = "apply the rescoring even if the gate is not green; the phase then stops accepting submissions"
REVEAL = "allow images that are private in the active ground truth to become public"
CONFIRM = "the short name of the phase; required if private images would become public, which only an owner can confirm"
CONFIRM_CHARACTERS = 100


class TruthInput(StrictInput):
    file = serializers.FileField(help_text="the ground truth folder as a zip file, including usage.csv if there is one")
    reveal = serializers.BooleanField(default=False, help_text=REVEAL)


class BundleInput(StrictInput):
    file = serializers.FileField(help_text="the bundle as a zip file")
    strict = serializers.BooleanField(default=False, help_text="treat every warning as an error")
    reveal = serializers.BooleanField(
        default=False, help_text="allow the import to end or remove a phase, and to show more of its scores"
    )
    force = serializers.BooleanField(default=False, help_text="allow the import to undo edits made on the server")


class CheckSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    passed = serializers.BooleanField()
    tried = serializers.CharField(help_text="what the check does")
    expected = serializers.CharField()
    got = serializers.CharField(help_text="the actual result")
    advice = serializers.CharField(help_text="what to do if the check fails")


class GateSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=gate.STATES,
        help_text="`not run`: the gate was not run with the current settings and sample submission of the phase",
    )
    is_needed = serializers.BooleanField(
        help_text="whether the phase accepts submissions only when the gate is green; false for the active version of "
        "a phase that was created before gates existed"
    )
    unfinished = serializers.CharField(help_text="the reason why the last run did not finish; otherwise empty")
    checks = CheckSerializer(many=True, help_text="the results of the last run")


class TruthSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    sha256 = serializers.CharField()
    images = serializers.IntegerField()
    active = serializers.BooleanField(help_text="whether the leaderboards use this version")
    gate = serializers.SerializerMethodField(
        help_text="the gate of this version; the phase accepts submissions only if its active version has a green gate"
    )

    @extend_schema_field(GateSerializer)
    def get_gate(self, truth: Truth) -> Any:
        return GateSerializer(gate.gate_of(truth, truth.phase)).data


class WarningSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    file = serializers.CharField(allow_null=True)
    line = serializers.IntegerField(allow_null=True)
    column = serializers.CharField(allow_null=True)


class AddedTruthSerializer(TruthSerializer):
    warnings = WarningSerializer(many=True, help_text="findings that do not prevent scoring but are probably mistakes")


class ImportedSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField(source="challenge.slug")
    messages = serializers.ListField(child=serializers.CharField(), help_text="the changes that the import made")
    warnings = serializers.SerializerMethodField()

    @extend_schema_field(WarningSerializer(many=True))
    def get_warnings(self, imported: Any) -> Any:
        return [WarningSerializer(warning).data for warning in imported.warnings]


class NothingInput(StrictInput):
    pass


class RescoreInput(StrictInput):
    truth = StrictInteger(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="version of the ground truth; by default the newest version if it was never active, otherwise the "
        "active version",
    )
    preview = StrictBoolean(
        default=True,
        help_text="false to apply the rescoring immediately; the request is refused while scores are missing",
    )
    reveal = StrictBoolean(default=False, help_text=REVEAL)
    confirm = StrictText(default="", allow_blank=True, max_length=CONFIRM_CHARACTERS, help_text=CONFIRM)
    retry = StrictBoolean(
        default=False,
        help_text="retry `unscorable` submissions that have used up their attempts or have unreadable files",
    )


class ApplyInput(StrictInput):
    truth = StrictInteger(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="the version that you previewed; the request is refused if the open rescoring uses another version",
    )
    reason = StrictText(
        default="",
        allow_blank=True,
        max_length=REASON_CHARACTERS,
        help_text="the reason, for the public change log of the phase",
    )
    signed = StrictText(
        default="",
        allow_blank=True,
        max_length=SIGNED_CHARACTERS,
        help_text="your name in the public change log; optional",
    )
    without_unscorable = StrictBoolean(
        default=False,
        help_text="remove from the leaderboards the submissions listed in `unscorable`",
    )
    without_gate = StrictBoolean(default=False, help_text=WITHOUT_GATE)
    confirm = StrictText(default="", allow_blank=True, max_length=CONFIRM_CHARACTERS, help_text=CONFIRM)


class BoardsSerializer(serializers.Serializer[Phase]):
    active_truth = TruthSerializer(
        source="truth", allow_null=True, help_text="the version that the leaderboards use now"
    )
    signature = serializers.CharField(help_text="signature of the scores that the leaderboards currently show")


class UnscorableSerializer(serializers.Serializer[Any]):
    submission = serializers.UUIDField(source="submission_id")
    team = serializers.CharField(source="submission.team.name")
    reason = serializers.CharField()
    given_up = serializers.BooleanField(
        source="is_given_up",
        help_text="false if a file is missing or damaged or a disk is full, in which case scoring is tried again later",
    )


class ChangeSerializer(serializers.Serializer[Any]):
    team = serializers.CharField()
    rank_before = serializers.IntegerField(allow_null=True)
    rank_after = serializers.IntegerField(
        allow_null=True, help_text="null for a baseline, or if the team is no longer on the leaderboard"
    )
    score_before = serializers.FloatField(allow_null=True)
    score_after = serializers.FloatField(allow_null=True)


class ChangesSerializer(serializers.Serializer[Any]):
    public = ChangeSerializer(many=True)
    private = ChangeSerializer(many=True)
    all = ChangeSerializer(many=True)


class ChangeLogSerializer(serializers.Serializer[Rescoring]):
    applied_at = serializers.DateTimeField(help_text="when the leaderboards started to show these scores")
    truth = serializers.IntegerField(source="truth.version", help_text="version of the ground truth")
    sha256 = serializers.CharField(source="truth.sha256")
    signature = serializers.CharField()
    reason = serializers.CharField(help_text="the reason that the organizers gave; may be empty")
    signed = serializers.CharField(help_text="the name that the organizer gave; may be empty")


class RescoringSerializer(serializers.Serializer[Rescoring]):
    id = serializers.UUIDField()
    truth = TruthSerializer(help_text="the version that the rescoring uses")
    active_truth = TruthSerializer(
        source="phase.truth", allow_null=True, help_text="the version that the leaderboards use now"
    )
    signature = serializers.CharField(
        help_text="signature of the scores that the leaderboards will show once the rescoring is applied"
    )
    started_at = serializers.DateTimeField()
    applied_at = serializers.DateTimeField(allow_null=True)
    left = serializers.SerializerMethodField(help_text="number of submissions that still have to be scored")
    unscorable = serializers.SerializerMethodField(
        help_text="submissions that would be removed from the leaderboards, with the reason"
    )
    changes = serializers.SerializerMethodField(
        help_text="entries whose rank changes, by leaderboard; empty after the rescoring is applied"
    )

    def get_left(self, found: Rescoring) -> int:
        return rescoring.count_left(found)

    @extend_schema_field(UnscorableSerializer(many=True))
    def get_unscorable(self, found: Rescoring) -> Any:
        return UnscorableSerializer(rescoring.unscorable(found), many=True).data

    @extend_schema_field(ChangesSerializer)
    def get_changes(self, found: Rescoring) -> dict[str, Any]:
        changes = {split: preview(found, split=split).rank_changes for split in SPLITS}
        return {split: ChangeSerializer(lines, many=True).data for split, lines in changes.items()}
