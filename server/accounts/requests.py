"""Helpers for HTTP requests: the authenticated user, the client's network, and safe redirects."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from server.accounts.addresses import client_address, network_of
from server.accounts.models import User

FORM_METHODS = ("GET", "HEAD", "POST")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class PersonRequest(HttpRequest):
    """A request to a view with the decorator `login_required`. Its user is always logged in."""

    user: User


def client_network(request: HttpRequest) -> str:
    """Return the network of the client that sent a request. It is used for rate limits and in logs.

    See :mod:`server.accounts.addresses`.
    """
    return network_of(client_address(request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", "")))


def is_local(address: str) -> bool:
    """Return whether the parameter `next` may redirect to a URL, which must be an absolute path on this site.

    >>> [is_local(address) for address in ("/challenges/", "foo", "//evil", "https:evil", "/\\\\evil")]
    [True, False, False, False, False]
    """
    return address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
