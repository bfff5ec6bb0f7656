"""API serializers for additional submissions that organizers grant to a team."""

from rest_framework import serializers

from server.api.serializers.inputs import StrictInput, StrictInteger, StrictText
from server.submissions.models import QuotaGrant
from server.submissions.services.grants import AMOUNT_MAX


class GrantInput(StrictInput):
    amount = StrictInteger(min_value=1, max_value=AMOUNT_MAX, help_text="number of submissions")
    day = serializers.DateField(
        required=False,
        allow_null=True,
        default=None,
        help_text="the day in UTC; if null, the grant raises the total quota",
    )
    reason = StrictText(help_text="the team sees the reason")


class TakeBackInput(StrictInput):
    reason = StrictText(help_text="the team sees the reason")


class GrantSerializer(serializers.Serializer[QuotaGrant]):
    id = serializers.IntegerField()
    amount = serializers.IntegerField(help_text="number of granted submissions, excluding those that were taken back")
    day = serializers.DateField(allow_null=True, help_text="the day in UTC; null if the grant raises the total quota")
    reason = serializers.CharField()
    granted_at = serializers.DateTimeField()
    taken_back = serializers.IntegerField(help_text="number of granted submissions that were taken back")
    taken_back_at = serializers.DateTimeField(allow_null=True)
    taken_back_reason = serializers.CharField(help_text="the reason for taking submissions back; empty if none were")
