"""Serializers of ground truths and rescorings, for organizers."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from server.api.serializers.inputs import StrictBoolean, StrictInput, StrictInteger
from server.challenges.models import Phase
from server.organize.models import Rescoring
from server.organize.services import rescoring
from server.submissions.feedback import SPLITS

REVEAL = "allow images to become public that are private in the active ground truth"


class TruthInput(StrictInput):
    file = serializers.FileField(help_text="the ground truth folder as a zip file, including usage.csv if there is one")
    reveal = serializers.BooleanField(default=False, help_text=REVEAL)


class TruthSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    sha256 = serializers.CharField()
    images = serializers.IntegerField()
    active = serializers.BooleanField(help_text="whether the leaderboards use this version")


class WarningSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    file = serializers.CharField(allow_null=True)
    line = serializers.IntegerField(allow_null=True)
    column = serializers.CharField(allow_null=True)


class AddedTruthSerializer(TruthSerializer):
    warnings = WarningSerializer(many=True, help_text="problems that do not prevent scoring but are probably mistakes")


class NothingInput(StrictInput):
    pass


class RescoreInput(StrictInput):
    truth = StrictInteger(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        help_text="version of the ground truth; default: the newest that was never active, otherwise the active one",
    )
    preview = StrictBoolean(
        default=True, help_text="false to apply the rescoring now, which is refused while scores are missing"
    )
    reveal = StrictBoolean(default=False, help_text=REVEAL)
    retry = StrictBoolean(
        default=False,
        help_text="score submissions of `unscorable` again that have used up their attempts or wait for files",
    )


class ApplyInput(StrictInput):
    without_unscorable = StrictBoolean(
        default=False,
        help_text="remove the submissions listed in `unscorable` from the leaderboards",
    )
    reveal = StrictBoolean(default=False, help_text=REVEAL)


class BoardsSerializer(serializers.Serializer[Phase]):
    active_truth = TruthSerializer(
        source="truth", allow_null=True, help_text="the version that the leaderboards use now"
    )
    signature = serializers.CharField(help_text="signature of the scores on the leaderboards now")


class UnscorableSerializer(serializers.Serializer[Any]):
    submission = serializers.UUIDField(source="submission_id")
    team = serializers.CharField(source="submission.team.name")
    reason = serializers.CharField()
    given_up = serializers.BooleanField(
        source="is_given_up",
        help_text="false if a file is missing or damaged, or a disk full: it is tried again",
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


class RescoringSerializer(serializers.Serializer[Rescoring]):
    id = serializers.UUIDField()
    truth = TruthSerializer(help_text="the version that the rescoring uses")
    active_truth = TruthSerializer(
        source="phase.truth", allow_null=True, help_text="the version that the leaderboards use now"
    )
    signature = serializers.CharField(help_text="signature of the scores that the leaderboards will show")
    started_at = serializers.DateTimeField()
    applied_at = serializers.DateTimeField(allow_null=True)
    left = serializers.SerializerMethodField(help_text="number of submissions that still have to be scored")
    unscorable = serializers.SerializerMethodField(
        help_text="submissions that would be removed from the leaderboards, with the reason"
    )
    changes = serializers.SerializerMethodField(
        help_text="entries that change, by leaderboard; empty after the rescoring is applied"
    )

    def get_left(self, found: Rescoring) -> int:
        return rescoring.count_left(found)

    @extend_schema_field(UnscorableSerializer(many=True))
    def get_unscorable(self, found: Rescoring) -> Any:
        return UnscorableSerializer(rescoring.unscorable(found), many=True).data

    @extend_schema_field(ChangesSerializer)
    def get_changes(self, found: Rescoring) -> dict[str, Any]:
        changes = {split: rescoring.changes(found, split=split) for split in SPLITS}
        return {split: ChangeSerializer(lines, many=True).data for split, lines in changes.items()}
