"""Defines the exceptions for failed requests to a server."""

from collections.abc import Mapping
from typing import Any

from evaluator.problems import PodiumError


class NotUsable(PodiumError):
    """Raised if a command cannot be run, for example because the URL is not that of a Podium server."""


class Refused(PodiumError):
    """Raised if the server rejects a request. Repeating the request would not help.

    Attributes
    ----------
    status : int
    problem : mapping
        The problem document (a JSON description of the error) in the response, with at least ``code`` and ``detail``.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status, self.problem = status, problem
        super().__init__(str(problem["detail"]))

    @property
    def code(self) -> str:
        """The error code in the server's response, such as ``quota_exhausted``."""
        return str(self.problem["code"])


class TryLater(Refused):
    """Raised if the server cannot be reached, or if it rejects a request that may succeed later."""
