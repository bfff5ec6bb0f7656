"""Tests logging in with a device code or a token, and where tokens are stored and sent."""

import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from evaluator.client import servers
from tests.evaluator.client.conftest import SERVER, FakeServer, refusal


class TestLogin:
    STARTED: ClassVar[dict[str, Any]] = {
        **{"device_code": "d", "user_code": "BCDF-GHJK", "verification_uri": "x", "interval": 5},
        **{"verification_uri_complete": f"{SERVER}/accounts/device?code=BCDF-GHJK", "expires_in": 900},
    }
    ME: ClassVar[dict[str, Any]] = {"username": "ada", "token": {"name": "t", "scope": "submit", "expires_at": "x"}}

    @pytest.fixture(autouse=True)
    def without_token(self, run: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("PODIUM_TOKEN")
        monkeypatch.delenv("PODIUM_SERVER")

    def test_the_client_polls_until_a_device_code_is_approved(
        self, run: Callable[..., int], server: FakeServer, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pending, slow = refusal(400, "authorization_pending"), refusal(400, "slow_down")
        token = {"access_token": "podium_new", "token_type": "Bearer"}
        server.answers |= {"POST device/code": self.STARTED, "POST device/token": [pending, slow, token]}
        server.answers["GET me"] = self.ME
        assert run("login", SERVER, "--no-browser") == 0
        assert server.pauses == [5, 5, 10]
        assert "BCDF-GHJK" in capsys.readouterr().err
        assert server.requests[-1].headers["Authorization"] == "Bearer podium_new"
        (stored,) = (servers.folder() / "tokens").iterdir()
        assert (stored.read_text(), stat.S_IMODE(stored.stat().st_mode)) == ("podium_new\n", 0o600)
        assert servers.chosen(None) == SERVER

    def test_a_denied_code_exits_with_4(self, run: Callable[..., int], server: FakeServer) -> None:
        server.answers |= {"POST device/code": self.STARTED, "POST device/token": refusal(400, "access_denied")}
        assert run("login", SERVER, "--no-browser") == 4
        assert not servers.token_of(SERVER)

    def test_a_token_can_be_pasted(
        self, run: Callable[..., int], server: FakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        server.answers["GET me"] = self.ME
        (tmp_path / "token").write_text("podium_pasted\n")
        monkeypatch.setattr(sys, "stdin", (tmp_path / "token").open())
        assert run("login", SERVER, "--token") == 0
        sys.stdin.close()
        assert servers.token_of(SERVER) == "podium_pasted"

    def test_a_redirect_to_https_of_the_same_server_is_followed_without_a_token(
        self, run: Callable[..., int], server: FakeServer
    ) -> None:
        def redirect(request: httpx.Request) -> Any:
            assert "Authorization" not in request.headers
            secure = str(request.url).replace("http://", "https://")
            return self.STARTED if request.url.scheme == "https" else httpx.Response(301, headers={"Location": secure})

        server.answers |= {"POST device/code": redirect, "POST device/token": {"access_token": "podium_new"}}
        server.answers["GET me"] = self.ME
        assert run("login", "http://podium.test", "--no-browser") == 0
        assert servers.chosen(None) == SERVER

    def test_a_redirect_to_another_server_is_not_followed(self, run: Callable[..., int], server: FakeServer) -> None:
        server.answers["POST device/code"] = httpx.Response(302, headers={"Location": "https://evil.test/"})
        assert run("login", SERVER, "--no-browser") == 4
        assert len(server.requests) == 1

    def test_logout_revokes_and_removes_the_token(self, run: Callable[..., int], server: FakeServer) -> None:
        servers.remember(SERVER, "podium_old")
        server.answers["DELETE me/token"] = httpx.Response(204)
        assert run("logout") == 0
        assert server.requests[0].headers["Authorization"] == "Bearer podium_old"
        assert not servers.token_of(SERVER)

    @pytest.mark.parametrize(
        "address",
        ["", " ", "ftp://x", "https://", "https://a b", "https://user:pw@x", "https://x?y", "http://["],
    )
    def test_an_unusable_address_is_wrong_usage(
        self, run: Callable[..., int], server: FakeServer, address: str
    ) -> None:
        assert run("login", address or " ", "--no-browser") == (64 if address.strip() != "https://x" else 75)
        assert not server.requests or address.strip() == "https://x"

    def test_a_missing_server_is_wrong_usage(self, run: Callable[..., int]) -> None:
        assert run("whoami") == 64

    def test_a_token_with_a_line_break_is_never_sent(
        self, run: Callable[..., int], server: FakeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PODIUM_TOKEN", "a\r\nX-Evil: 1")
        monkeypatch.setenv("PODIUM_SERVER", SERVER)
        assert run("whoami") == 64
        assert not server.requests
