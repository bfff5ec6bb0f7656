"""Sends requests to the API of a server, and retries them with increasing pauses if the server is unavailable."""

import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx

from evaluator import __version__
from evaluator.client.errors import NotUsable, Refused, TryLater
from evaluator.problems import visible

# Number of seconds for which a failed request is retried. LONG_PATIENCE_SECONDS applies to requests for the status of
# an upload or a submission.
PATIENCE_SECONDS = 15.0
LONG_PATIENCE_SECONDS = 15 * 60.0
LONGEST_PAUSE = 30.0
BUSY = (408, 429, 500, 502, 503, 504)
NO_SPACE = 507
Sleep = Callable[[float], None]


class Api:
    """A client for the API of one server. All requests use the same token.

    Tests pass ``transport`` and ``sleep`` to replace network connections and pauses.
    """

    def __init__(
        self,
        server: str,
        token: str = "",
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Sleep = time.sleep,
    ) -> None:
        self.server, self.sleep = server, sleep
        self._version_checked = False
        headers = {"User-Agent": f"podium/{__version__}", "Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {_checked(token)}"
        # The client does not follow redirects. Otherwise, the token could be sent to another server.
        self._client = httpx.Client(headers=headers, timeout=httpx.Timeout(60, connect=10), transport=transport)

    def get(self, path: str, *, patience: float = PATIENCE_SECONDS, **query: Any) -> Any:
        """Send a GET request and return the JSON data of the response."""
        return self.json_of(self.send("GET", path, patience=patience, params=query))

    def post(self, path: str, body: Any) -> Any:
        """Send a POST request with JSON data and return the JSON data of the response."""
        return self.json_of(self.send("POST", path, json=body))

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        """Yield the items on all pages of a paginated list."""
        number, more = 1, True
        while more:
            page = self.get(path, page=number)
            yield from page["results"]
            number, more = number + 1, bool(page["next"])

    def send(self, method: str, path: str, *, patience: float = PATIENCE_SECONDS, **options: Any) -> httpx.Response:
        """Send a request and return the response. If the server is unavailable, retry for about ``patience`` seconds.

        Raises
        ------
        Refused
            If the server rejects the request.
        TryLater
            If the server could not be reached or was busy at every attempt, if a quota is exhausted for now, or if the
            disk of the server is full.
        """
        waited, attempt = 0.0, 0
        while True:
            try:
                return self._once(method, path, **options)
            except TryLater as refusal:
                pause = self.pause_after(refusal, attempt)
                waited, attempt = waited + pause, attempt + 1
                if waited >= patience or not _is_passing(refusal):
                    raise
                if attempt == 1 and sys.stderr.isatty():
                    print(f"podium: {visible(str(refusal))}; trying again …", file=sys.stderr)
                self.sleep(pause)

    def pause_after(self, refusal: TryLater, attempt: int) -> float:
        """Return the number of seconds to wait before the next attempt.

        The server may have specified this time. Otherwise, the pauses become longer with each attempt.
        """
        asked = refusal.problem.get("retry_after_seconds")
        if asked is not None:
            return max(0.5, float(asked))
        return min(LONGEST_PAUSE, 0.5 * 2.0**attempt) * random.uniform(0.8, 1.2)

    def json_of(self, response: httpx.Response) -> Any:
        """Return the JSON data of a response. Raises NotUsable if the response is not JSON."""
        try:
            return response.json()
        except ValueError:
            raise NotUsable(f"{self.server} does not respond like a Podium server") from None

    def _once(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            response = self._client.request(method, f"{self.server}/api/v1/{path}", **options)
        except httpx.InvalidURL as error:
            raise NotUsable(f"{self.server} is not the address of a server: {error}") from None
        except httpx.LocalProtocolError:
            raise  # A LocalProtocolError means that the request itself is invalid, so retrying would not help.
        except httpx.TransportError as error:
            reason = visible(str(error) or type(error).__name__)
            detail = f"{self.server} cannot be reached: {reason}"
            raise TryLater(0, {"code": "unreachable", "detail": detail}) from None
        self._compare_versions(response.headers.get("Podium-Version", ""))
        if response.is_success or response.status_code == httpx.codes.NOT_MODIFIED:
            return response
        raise self._refusal(response)

    def _refusal(self, response: httpx.Response) -> Exception:
        status = response.status_code
        if response.is_redirect:
            target = visible(response.headers.get("Location", "?"))
            detail = f"{self.server} redirects to {target}. Log in there: podium login URL"
            return Refused(status, {"code": "redirect", "detail": detail, "location": target})
        problem = _problem_in(response)
        seconds = response.headers.get("Retry-After", "")
        if seconds.isdigit():
            problem["retry_after_seconds"] = int(seconds)
        return (TryLater if _is_later(status, problem) else Refused)(status, problem)

    def _compare_versions(self, theirs: str) -> None:
        """Print a warning once if the versions of the server and the client are incompatible.

        Versions are compatible if their major versions are equal and their minor versions differ by at most 1.
        """
        if self._version_checked or not theirs:
            return
        self._version_checked = True
        try:
            (major, minor), (own_major, own_minor) = (map(int, text.split(".")[:2]) for text in (theirs, __version__))
        except ValueError:
            return
        if major != own_major or abs(minor - own_minor) > 1:
            older, newer = ("server", "client") if (major, minor) < (own_major, own_minor) else ("client", "server")
            versions = f"the server runs podium {theirs}, this client is podium {__version__}"
            print(f"podium: {versions}. The {older} is too old for the {newer}; update the {older}.", file=sys.stderr)


def _checked(token: str) -> str:
    if not token.isascii() or not token.isprintable() or " " in token:
        raise NotUsable("the token contains invalid characters; copy the token again")
    return token


def _problem_in(response: httpx.Response) -> dict[str, Any]:
    """Return the problem document of a response, a JSON description of the error.

    If the response contains none, create one from the status code.
    """
    try:
        problem = response.json()
    except ValueError:
        problem = None
    if isinstance(problem, dict) and {"code", "detail"} <= set(problem):
        return problem
    phrase = response.reason_phrase or "an error"
    return {"code": "http_error", "detail": f"the server responded with {response.status_code} {phrase}"}


def _is_later(status: int, problem: dict[str, Any]) -> bool:
    """Return whether the same request may succeed later: the server is busy or full, or a quota is exhausted for now.

    A quota is exhausted permanently if the response contains no time at which the next submission is allowed.
    """
    if problem["code"] in ("quota_exhausted", "storage_exhausted"):
        return problem.get("next_allowed_at") is not None
    return status in BUSY or status == NO_SPACE


def _is_passing(refusal: TryLater) -> bool:
    """Return whether a refused request may succeed within minutes: no quota is exhausted, and the disk is not full."""
    return refusal.status != NO_SPACE and refusal.code not in ("quota_exhausted", "storage_exhausted")
