"""Where the web part listens, and whether it answers there."""

import http.client
import json
import socket
from contextlib import closing
from urllib.parse import urlsplit

from django.conf import settings

from server.runtime.home import NotStarted

EVERYWHERE = ("", "0.0.0.0")


def is_free(port: int) -> bool:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.PODIUM_BIND, port))
        except OSError:
            return False
    return True


def refuse_busy_port() -> None:
    """Say that the port is taken, with the next one that is free."""
    port = settings.PODIUM_PORT
    if is_free(port):
        return
    free = next((number for number in range(port + 1, min(port + 1000, 65536)) if is_free(number)), None)
    advice = f"Port {free} is free: set PODIUM_PORT={free}." if free else "Set PODIUM_PORT to a free one."
    raise NotStarted(f"Port {port} is taken on {settings.PODIUM_BIND}. {advice}")


def readiness() -> dict[str, str]:
    """Ask the running web part which parts are ready; it is a part itself."""
    host = "127.0.0.1" if settings.PODIUM_BIND in EVERYWHERE else settings.PODIUM_BIND
    headers = {"Host": urlsplit(settings.PODIUM_URL).netloc, "X-Forwarded-Proto": "https" if settings.HTTPS else "http"}
    with closing(http.client.HTTPConnection(host, settings.PODIUM_PORT, timeout=10)) as connection:
        try:
            connection.request("GET", "/readyz", headers=headers)
            return {"web": "ok", **json.loads(connection.getresponse().read())}
        except (OSError, http.client.HTTPException, ValueError):
            return {"web": "does not answer"}
