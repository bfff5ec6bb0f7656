"""Authentication by API token, and permissions by the scope of the token."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from server.accounts.models import ApiToken, User
from server.accounts.token_use import note_use
from server.clock import database_now

KEYWORD = "Bearer"
# The scopes of API tokens. Each scope includes the permissions of the scopes listed before it.
SCOPES = (
    ApiToken.Scope.READ,
    ApiToken.Scope.SUBMIT,
    ApiToken.Scope.ORGANIZE,
)


class TokenAuthentication(BaseAuthentication):
    """Authenticates API requests by the header `Authorization: Bearer podium_…`.

    A request with an invalid token is rejected, even if the route is public.
    """

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
        note_use(token, now=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return f'{KEYWORD} realm="podium"'


class TokenSecurity(OpenApiAuthenticationExtension):
    """Describes authentication by API token in the OpenAPI schema.

    Nothing refers to this class, because drf-spectacular finds all subclasses of its base class.
    """

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token from your account page."}


class PersonRequest(Request):
    """A request to an API view with the permission `LoggedIn`. Its user is always authenticated."""

    user: User


class TokenHasScope(BasePermission):
    """Permission that requires an API token to have the view's scope.

    If the view does not define a scope, it is "read" for safe HTTP methods and "submit" for all others.
    """

    message = (
        "The scope of this token does not allow this request. On your account page, create a token with the scope "
        "submit or organize."
    )

    def has_permission(self, request: Request, view: Any) -> bool:
        default = ApiToken.Scope.READ if request.method in SAFE_METHODS else ApiToken.Scope.SUBMIT
        needed = getattr(view, "scope", default)
        token = request.auth
        return not isinstance(token, ApiToken) or SCOPES.index(token.scope) >= SCOPES.index(needed)


class LoggedIn(BasePermission):
    """Permission that requires authentication by API token or session. Public views use `AllowAny` instead."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not request.user.is_authenticated:
            raise NotAuthenticated("Log in, or send an API token in a header: Authorization: Bearer podium_…")
        return True
