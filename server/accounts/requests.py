"""Who sends a request, from which network, and where they may be led: for views behind `login_required` and limits."""

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from server.accounts.addresses import network_of, sender_of
from server.accounts.models import User

READ_AND_SEND = ("GET", "HEAD", "POST")  # what an address with a form takes


class PersonRequest(HttpRequest):
    user: User


def address_of(request: HttpRequest) -> str:
    """The sender's network, for limits and logs: see :mod:`server.accounts.addresses`."""
    return network_of(sender_of(request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", "")))


def is_local(address: str) -> bool:
    """Whether `next=` may lead there: an absolute path of this site, never another host or a relative name.

    >>> [is_local(address) for address in ("/challenges/", "foo", "//evil", "https:evil", "/\\\\evil")]
    [True, False, False, False, False]
    """
    return address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
