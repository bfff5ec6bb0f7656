"""Which address a request counts for. No models here: the web process needs it before Django is set up."""

from ipaddress import IPv4Address, ip_address, ip_network

from django.conf import settings


def sender_of(peer: str, forwarded_for: str) -> str:
    """What the outermost of our own proxies (PROXIES) saw. A header of the sender proves nothing.

    The list grows at its end, so what stands further left than our proxies wrote was sent along by anybody.
    """
    forwarded = forwarded_for.split(",")[-settings.PROXIES :] if settings.PROXIES else []
    return next(iter(forwarded), "").strip() or peer


def network_of(address: str) -> str:
    """Return what counts as one client: an IPv4 address, or the /64 network that one IPv6 client chooses from.

    >>> network_of("2001:db8::1:2:3:4") == network_of("2001:db8::5")
    True
    >>> network_of("::ffff:192.0.2.1")
    '192.0.2.1'
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((int(found), 64), strict=False).network_address)
