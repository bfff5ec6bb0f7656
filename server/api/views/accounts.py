"""API views for logins with a device code (RFC 8628), and for the authenticated user and token."""

from typing import Any

from allauth.core import ratelimit
from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from server.accounts import device_logins
from server.accounts.models import ApiToken
from server.accounts.requests import client_network
from server.accounts.services import revoke_token
from server.api.authentication import PersonRequest
from server.api.schema import COUNTED, WITH_A_BODY, refusals
from server.api.serializers.accounts import (
    DeviceInput,
    DeviceSerializer,
    DeviceTokenInput,
    DeviceTokenSerializer,
    MeSerializer,
)
from server.api.serializers.inputs import validated
from server.clock import database_now
from server.errors import Refused

RETRY_SECONDS = 60
UNDECIDED = ("authorization_pending", "slow_down", "access_denied", "expired_token")


class DeviceCode(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="start_device_login",
        request=DeviceInput,
        responses={200: DeviceSerializer, **refusals(*WITH_A_BODY, *COUNTED)},
    )
    def post(self, request: Request) -> Response:
        """Start a login with a device code (RFC 8628).

        Show the user code and the URL to the user. Fetch the token after the user has approved the login.
        """
        given = validated(DeviceInput, request)
        if not ratelimit.consume(request._request, action="device_start"):
            detail = "Too many logins were started from your network. Try again in a minute."
            raise Refused("rate_limited", detail, retry_after=RETRY_SECONDS)
        login, device_code = device_logins.start(**given, network=client_network(request))
        page = settings.PODIUM_URL.rstrip("/") + reverse("account_device")
        return secret_response(
            device_code=device_code,
            user_code=login.user_code,
            verification_uri=page,
            verification_uri_complete=f"{page}?code={login.user_code}",
            expires_in=device_logins.VALID_SECONDS,
            interval=device_logins.INTERVAL_SECONDS,
        )


class DeviceToken(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        operation_id="fetch_device_token",
        request=DeviceTokenInput,
        responses={200: DeviceTokenSerializer, **refusals(*UNDECIDED, *WITH_A_BODY, *COUNTED)},
    )
    def post(self, request: Request) -> Response:
        """Fetch the API token of a login with a device code.

        Until the user has approved the login, the error code is `authorization_pending`.
        """
        token, secret = device_logins.fetch_token(validated(DeviceTokenInput, request)["device_code"])
        valid = int((token.expires_at - database_now()).total_seconds())
        return secret_response(access_token=secret, token_type="Bearer", expires_in=valid, scope=token.scope)


def secret_response(**members: Any) -> Response:
    """Return a JSON response that caches must not store, because it contains a secret."""
    return Response(members, headers={"Cache-Control": "no-store"})


class Me(APIView):
    @extend_schema(operation_id="read_me", responses={200: MeSerializer, **refusals(*COUNTED)})
    def get(self, request: PersonRequest) -> Response:
        """Return the user and the token that authenticate this request."""
        return Response(MeSerializer(request.user, context={"token": request.auth}).data)


class OwnToken(APIView):
    scope = ApiToken.Scope.READ

    @extend_schema(operation_id="revoke_own_token", responses={204: None, **refusals("not_found", *COUNTED)})
    def delete(self, request: PersonRequest) -> Response:
        """Revoke the token that authenticates this request."""
        if not isinstance(request.auth, ApiToken):
            raise Refused("not_found", "This request was not made with an API token, so there is no token to revoke.")
        revoke_token(token=request.auth, by=request.user)
        return Response(status=204)
