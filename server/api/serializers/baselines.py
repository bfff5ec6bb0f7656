"""API serializers for baselines, the submissions of organizers."""

from typing import Any

from rest_framework import serializers

from evaluator.bundle.rules import NAME_CHARACTERS
from server.api.serializers.inputs import StrictInput, StrictText
from server.api.serializers.submissions import SubmissionSerializer


class BaselineInput(StrictInput):
    name = StrictText(
        max_length=NAME_CHARACTERS,
        help_text="shown on the leaderboards; if a baseline with this name exists, the file becomes its new submission",
    )
    file = serializers.FileField(
        max_length=255, help_text="the predictions file, plain or compressed with gzip; it uses no quota"
    )


class BaselineSerializer(serializers.Serializer[Any]):
    """A baseline of a phase with its latest submission.

    The instance to serialize is the submission. The context must be the same as for SubmissionSerializer.
    """

    team_id = serializers.IntegerField()
    name = serializers.CharField(source="team.name")
    removed_at = serializers.DateTimeField(
        source="team.disqualified_at",
        allow_null=True,
        help_text="when the organizers removed the baseline from the leaderboards; null if they did not",
    )
    submission = SubmissionSerializer(source="*", help_text="the latest submission of the baseline to this phase")
