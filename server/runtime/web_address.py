"""Checks whether the web process's port is free, and whether the service responds on it.

systemd can keep the port open while the service restarts (socket activation). It then passes the listening socket to
this process, and requests wait until the new web process accepts them.
"""

import errno
import http.client
import json
import os
import socket
from contextlib import closing
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from django.conf import settings

from server.runtime.home import NotStarted

ALL_INTERFACES = ("", "0.0.0.0")
SYSTEMD_SOCKET = 3  # the number of the first file descriptor that systemd passes
INTERNET = (socket.AF_INET, socket.AF_INET6)


def listen_error(port: int) -> OSError | None:
    """Return the error that prevents the service from listening on this port, or None if there is none."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.PODIUM_BIND, port))
        except OSError as error:
            return error
    return None


def has_systemd_socket() -> bool:
    """Return whether systemd has passed a listening socket to this process."""
    return (os.environ.get("LISTEN_PID"), os.environ.get("LISTEN_FDS")) == (str(os.getpid()), "1")


def check_port() -> None:
    """Raise NotStarted if the web process cannot listen on its port. The message names the setting to change."""
    if has_systemd_socket():
        check_systemd_address()
        return
    port, bind = settings.PODIUM_PORT, settings.PODIUM_BIND
    if (error := listen_error(port)) is None:
        return
    if error.errno == errno.EACCES:
        raise NotStarted(f"Only root can use port {port}. Set PODIUM_PORT to 1024 or higher, such as 8000.")
    if error.errno != errno.EADDRINUSE:
        raise NotStarted(f"PODIUM_BIND={bind} cannot be used ({error.strerror}): set it to 127.0.0.1 or 0.0.0.0.")
    free = next((number for number in range(port + 1, min(port + 1000, 65536)) if listen_error(number) is None), None)
    advice = f"Port {free} is free: set PODIUM_PORT={free}." if free else "Set PODIUM_PORT to a free port."
    raise NotStarted(f"Port {port} is in use on {bind}. {advice}")


def check_systemd_address() -> None:
    """Raise NotStarted if systemd listens on another address than the settings, because the part never gets ready then.

    A Unix socket is not compared, because a proxy may connect it to the address in the settings.
    """
    with socket.socket(fileno=os.dup(SYSTEMD_SOCKET)) as passed:
        if passed.family not in INTERNET:
            return
        host, port, *_ = passed.getsockname()
    bind, configured = settings.PODIUM_BIND, settings.PODIUM_PORT
    if port == configured and not is_other_host(host, bind):
        return
    listens = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    wrong = f"systemd listens on {listens}, but PODIUM_BIND and PODIUM_PORT are {bind}:{configured}."
    raise NotStarted(f"{wrong} Change ListenStream in podium@web.socket, or the settings.")


def is_other_host(host: str, other: str) -> bool:
    """Return whether two hosts are different addresses, and neither of them is the address of all interfaces."""
    first, second = address_of(host), address_of(other)
    if first is None or second is None or first.is_unspecified or second.is_unspecified:
        return False
    return first != second


def address_of(host: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address of ``host``, or None if ``host`` is a name. An IPv4-mapped IPv6 address becomes IPv4."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def readiness() -> dict[str, str]:
    """Request `/readyz`. Return `ok` or the problem for the web process and for each of its checks, keyed by name."""
    host = "127.0.0.1" if settings.PODIUM_BIND in ALL_INTERFACES else settings.PODIUM_BIND
    headers = {"Host": urlsplit(settings.PODIUM_URL).netloc, "X-Forwarded-Proto": "https" if settings.HTTPS else "http"}
    with closing(http.client.HTTPConnection(host, settings.PODIUM_PORT, timeout=10)) as connection:
        try:
            connection.request("GET", "/readyz", headers=headers)
            return {"web": "ok", **json.loads(connection.getresponse().read())}
        except (OSError, http.client.HTTPException, ValueError):
            return {"web": "does not respond"}
