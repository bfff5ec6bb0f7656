"""API serializers for people who are blocked from joining a challenge."""

from rest_framework import serializers

from server.api.serializers.inputs import StrictInput, StrictText
from server.challenges.models import Block
from server.challenges.services import REASON_CHARACTERS


class BlockInput(StrictInput):
    username = StrictText(max_length=150, help_text="the person to block")
    reason = StrictText(
        max_length=REASON_CHARACTERS,
        help_text="visible to organizers, and included in the data that the person can export",
    )


class BlockSerializer(serializers.Serializer[Block]):
    id = serializers.IntegerField()
    username = serializers.CharField(source="user.username")
    reason = serializers.CharField()
    blocked_at = serializers.DateTimeField()
