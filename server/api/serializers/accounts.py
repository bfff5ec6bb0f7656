"""API serializers for logins with a device code, and for the authenticated user."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from server.accounts.models import ApiToken, User
from server.api.serializers.inputs import StrictInput, StrictText


class DeviceInput(StrictInput):
    name = StrictText(
        max_length=80, help_text="name of the program or device that requests the token, for example `podium on laptop`"
    )
    scope = serializers.ChoiceField(choices=ApiToken.Scope.choices, default=ApiToken.Scope.SUBMIT)


class DeviceSerializer(serializers.Serializer[Any]):
    device_code = serializers.CharField(help_text="the program's secret; do not show it to the user")
    user_code = serializers.CharField(help_text="the code to show to the user, who enters it at `verification_uri`")
    verification_uri = serializers.URLField()
    verification_uri_complete = serializers.URLField(
        help_text="the URL of the page with the user code already filled in"
    )
    expires_in = serializers.IntegerField(help_text="seconds until both codes expire")
    interval = serializers.IntegerField(help_text="number of seconds to wait before each request for the token")


class DeviceTokenInput(StrictInput):
    device_code = StrictText(max_length=100)


class DeviceTokenSerializer(serializers.Serializer[Any]):
    access_token = serializers.CharField(help_text="the API token; it cannot be fetched again")
    token_type = serializers.CharField(help_text="always `Bearer`")
    expires_in = serializers.IntegerField(help_text="seconds")
    scope = serializers.ChoiceField(choices=ApiToken.Scope.choices)


class TokenSerializer(serializers.Serializer[ApiToken]):
    name = serializers.CharField()
    scope = serializers.ChoiceField(choices=ApiToken.Scope.choices)
    expires_at = serializers.DateTimeField()


class MeSerializer(serializers.Serializer[User]):
    username = serializers.CharField()
    token = serializers.SerializerMethodField(
        help_text="the token that authenticates this request; null for a browser session"
    )

    @extend_schema_field(TokenSerializer(allow_null=True))
    def get_token(self, user: User) -> dict[str, Any] | None:
        token = self.context["token"]
        return dict(TokenSerializer(token).data) if isinstance(token, ApiToken) else None
