"""If systemd passes a listening socket, the web part refuses settings with another address than the socket's."""

import socket
from contextlib import closing
from pathlib import Path

import pytest
from pytest_django import Settings

from server.runtime import web_address
from server.runtime.home import NotStarted

pytestmark = pytest.mark.enable_socket


def start(passed: socket.socket, bind: str, port: int, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> str:
    """Check the settings against the socket that systemd passes. Return the error message, or an empty string."""
    settings.PODIUM_BIND, settings.PODIUM_PORT = bind, port
    monkeypatch.setattr(web_address, "has_systemd_socket", lambda: True)
    monkeypatch.setattr(web_address, "SYSTEMD_SOCKET", passed.fileno())
    try:
        web_address.check_port()
    except NotStarted as error:
        return str(error)
    finally:
        passed.getsockname()  # The web process still needs the socket, so it must not be closed.
    return ""


def test_another_port_than_that_of_systemd_is_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as passed:
        port = passed.getsockname()[1]
        assert start(passed, "127.0.0.1", port, settings, monkeypatch) == ""
        said = start(passed, "127.0.0.1", port - 1, settings, monkeypatch)
    listens = f"systemd listens on 127.0.0.1:{port}, but PODIUM_BIND and PODIUM_PORT are 127.0.0.1:{port - 1}."
    assert said == f"{listens} Change ListenStream in podium@web.socket, or the settings."


@pytest.mark.parametrize(
    ("listens", "bind", "refused"),
    [
        ("127.0.0.1", "192.0.2.1", True),
        ("127.0.0.1", "0.0.0.0", False),
        ("127.0.0.1", "localhost", False),
        ("0.0.0.0", "192.0.2.1", False),
        ("::", "127.0.0.1", False),
        ("::1", "127.0.0.1", True),
        ("::ffff:127.0.0.1", "127.0.0.1", False),
    ],
)
def test_only_two_addresses_of_single_interfaces_are_compared(
    listens: str, bind: str, refused: bool, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = socket.AF_INET6 if ":" in listens else socket.AF_INET
    with closing(socket.socket(family)) as passed:
        if family == socket.AF_INET6:
            passed.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        passed.bind((listens, 0))
        said = start(passed, bind, passed.getsockname()[1], settings, monkeypatch)
        assert start(passed, bind, 1, settings, monkeypatch).startswith("systemd listens on ")
    assert bool(said) == refused
    assert said == "" or f"but PODIUM_BIND and PODIUM_PORT are {bind}:" in said


def test_a_unix_socket_of_systemd_is_not_compared(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as passed:
        passed.bind(str(tmp_path / "web.sock"))
        assert start(passed, "127.0.0.1", 8000, settings, monkeypatch) == ""
