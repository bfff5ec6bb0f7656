"""Who is asking: a program with a bearer token, or a browser with its session; and what the token may do."""

from datetime import timedelta
from typing import Any

from django.db.models import Q
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from server.accounts.models import ApiToken, User
from server.clock import database_now

KEYWORD = "Bearer"
USE_IS_NOTED_EVERY = timedelta(minutes=1)
SCOPES = (ApiToken.Scope.READ, ApiToken.Scope.SUBMIT, ApiToken.Scope.ORGANIZE)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer podium_…`. A token that does not work is refused, even where nobody need log in."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        keyword, _, secret = request.headers.get("Authorization", "").partition(" ")
        if keyword.lower() != KEYWORD.lower():
            return None
        now = database_now()
        token = ApiToken.objects.of_secret(secret.strip()).usable(now).select_related("user").first()
        if token is None:
            raise AuthenticationFailed(
                "This token is unknown, expired or revoked. Create a new one on your account page."
            )
        if token.last_used_at is None or now - token.last_used_at >= USE_IS_NOTED_EVERY:
            stale = Q(last_used_at=None) | Q(last_used_at__lte=now - USE_IS_NOTED_EVERY)
            ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return f'{KEYWORD} realm="podium"'


class TokenSecurity(OpenApiAuthenticationExtension):
    """How the schema speaks of bearer tokens; drf-spectacular finds it by its being defined."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "created on the account page"}


class PersonRequest(Request):
    """The request of someone who is logged in, for views that `LoggedIn` guards."""

    user: User


class TokenMay(BasePermission):
    """Reading needs any token, writing one that may submit, or what the view's `scope` says. A session may do what its
    person may."""

    message = "This token's scope does not allow this. Create one with scope submit or organize on your account page."

    def has_permission(self, request: Request, view: Any) -> bool:
        usual = ApiToken.Scope.READ if request.method in SAFE_METHODS else ApiToken.Scope.SUBMIT
        needed = getattr(view, "scope", usual)
        token = request.auth
        return not isinstance(token, ApiToken) or SCOPES.index(token.scope) >= SCOPES.index(needed)


class LoggedIn(BasePermission):
    """Somebody, by token or session; views that anybody may read say so."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user.is_authenticated:
            raise NotAuthenticated("Log in, or send one of your tokens: Authorization: Bearer podium_…")
        return True
