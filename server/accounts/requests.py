"""Who sends a request, from which network, and where they may be led: for views behind `login_required` and limits."""

from ipaddress import IPv6Address, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from server.accounts.models import User

READ_AND_SEND = ("GET", "HEAD", "POST")  # what an address with a form takes
IPV6_PREFIX = 64  # what one customer gets: whoever has one address of it has all


class PersonRequest(HttpRequest):
    user: User


def address_of(request: HttpRequest) -> str:
    """The sender's address: what the outermost of our own proxies (PROXIES) saw. A header of the sender proves nothing.

    The list grows at its end, so what stands further left than our proxies wrote was sent along by anybody.
    """
    sender: str = request.META.get("REMOTE_ADDR", "")
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-settings.PROXIES :] if settings.PROXIES else []
    return network_of(next(iter(forwarded), "").strip() or sender)


def network_of(address: str) -> str:
    """Return the unit that limits count by: an IPv4 address, or the /64 network of an IPv6 address.

    >>> network_of("203.0.113.9"), network_of("::ffff:203.0.113.9"), network_of("2001:db8::7:1")
    ('203.0.113.9', '203.0.113.9', '2001:db8::')
    """
    try:
        found = ip_address(address)
    except ValueError:  # a unix socket has none
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(IPv6Network((found.packed, IPV6_PREFIX), strict=False).network_address)


def is_local(address: str) -> bool:
    """Whether `next=` may lead there: an absolute path of this site, never another host or a relative name.

    >>> [is_local(address) for address in ("/challenges/", "foo", "//evil", "https:evil", "/\\\\evil")]
    [True, False, False, False, False]
    """
    return address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
