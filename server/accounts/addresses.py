"""Determines the client address of a request. Rate limits count requests by this address.

This module must not import models, because the web server process imports it before Django is set up.
"""

from ipaddress import IPv4Address, ip_address, ip_network

from django.conf import settings

# All addresses of a /48 network count as one IPv6 client. A host usually has a /64 network, but a site gets a /56 or a
# /48 (RFC 6177), and anybody can get a /48 from a tunnel broker. With the prefix /56 or /64, a site with a /48 would
# count as 256 or 65,536 clients.
SITE_BITS = 48


def client_address(peer: str, forwarded_for: str) -> str:
    """Return the client's address as seen by the outermost reverse proxy of this server.

    `peer` is the address of the connection, and `forwarded_for` is the X-Forwarded-For header. The setting PROXIES is
    the number of reverse proxies. Each of them appends one address to the header, so a client can forge any address
    in the header except the last PROXIES ones.
    """
    forwarded = forwarded_for.split(",")[-settings.PROXIES :] if settings.PROXIES else []
    return next(iter(forwarded), "").strip() or peer


def network_of(address: str) -> str:
    """Return the network that contains a client address. Rate limits treat a network as one client.

    The network of an IPv4 address is the address itself. The network of an IPv6 address is its /48 network.

    >>> network_of("2001:db8:0:ffff::1") == network_of("2001:db8::5")
    True
    >>> network_of("2001:db8:1::") == network_of("2001:db8::")
    False
    >>> network_of("::ffff:192.0.2.1")
    '192.0.2.1'
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if isinstance(found, IPv4Address):
        return str(found)
    return str(found.ipv4_mapped or ip_network((int(found), SITE_BITS), strict=False).network_address)
