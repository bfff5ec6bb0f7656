"""The API conforms to its published schema, for generated valid and invalid requests of three kinds of users.

Each operation gets the edge cases of schemathesis (hundreds) and PODIUM_API_EXAMPLES random requests, the same in every
run. A test fails on a server error, on an undocumented status, media type or body, if the API accepts input that the
schema forbids, and if it refuses input that the schema allows.
"""

import os
import re
from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import hypothesis
import pytest
import schemathesis
from django.db import transaction
from pytest_django import Settings
from rest_framework.response import Response
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup

from server.accounts.models import ApiToken
from server.accounts.services import issue_token
from server.api.views.challenges import ChallengeDetail
from server.challenges.models import JoinRequest
from server.wsgi import application
from tests.conftest import InlineQueue, Make
from tests.server.conftest import Scored
from tests.server.documented import schema

EXAMPLES = int(os.environ.get("PODIUM_API_EXAMPLES", "40"))
MANY = 10**9
REAL = {"slug": "detection", "phase": "main", "submission_id": str(UUID(int=1)), "request_id": "1"}
PATTERNS = {"submission_id": "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "request_id": "[0-9]+"}
OFF = {"enabled": False}
CONFIG = {
    "seed": 20261121,
    "generation": {"max-examples": EXAMPLES, "deterministic": True, "with-security-parameters": False},
    "phases": {"stateful": OFF},
    "operations": [
        # Form fields are untyped text, and Django ignores an empty file that werkzeug's test client uploads.
        {
            "include-operation-id": ["submit", "add_truth"],
            "checks": {"positive_data_acceptance": OFF, "negative_data_rejection": OFF},
        },
        # The schema does not describe which characters a team name or a note may contain.
        {
            "include-operation-id": ["join_challenge", "change_submission"],
            "checks": {"positive_data_acceptance": OFF},
        },
    ],
}
SCOPES = {"nobody": None, "member": ApiToken.Scope.SUBMIT, "organizer": ApiToken.Scope.ORGANIZE}

Headers = dict[str, str]


def served(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Call the application, read its response to the end and close it. schemathesis does neither."""
    with closing(application(environ, start_response)) as answer:
        return list(answer)


published = schemathesis.openapi.from_dict(schema(), config=SchemathesisConfig.from_dict(CONFIG))
published.app = served


@published.hook
def map_path_parameters(context: Any, drawn: dict[str, Any] | None) -> dict[str, Any]:
    """Replace most generated path parameters by those of existing rows; requests with the others get a 404."""
    return {name: real(name, str(value)) for name, value in (drawn or {}).items()}


def real(name: str, drawn: str) -> str:
    well_formed = re.fullmatch(PATTERNS.get(name, ".*"), drawn, re.DOTALL)
    return REAL[name] if well_formed and len(drawn) % 5 else drawn


@pytest.fixture(params=SCOPES)
def headers(
    request: pytest.FixtureRequest, make: Make, scored: Scored, settings: Settings, inline_queue: InlineQueue
) -> Headers:
    """Return the request headers of a user, after creating a challenge with limits too high to be reached."""
    settings.API_REQUESTS_PER_MINUTE = settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = MANY
    phase = make.phase(make.challenge(slug=REAL["slug"]), slug=REAL["phase"], quota_per_day=MANY, attempts_per_day=MANY)
    people = {name: make.user(username=name) for name in SCOPES}
    phase.challenge.organizers.add(people["organizer"])
    team = make.team(phase.challenge, people["member"])
    scored(phase, 0.5, private=0.4, team=team, id=REAL["submission_id"])
    asked = {"user": make.user(), "rules_accepted_at": datetime.now(UTC), "pk": REAL["request_id"]}
    JoinRequest.objects.create(challenge=phase.challenge, **asked)
    scope = SCOPES[request.param]
    if scope is None:
        return {}
    _, secret = issue_token(user=people[request.param], name="conformance", scope=scope, days=1)
    return {"Authorization": f"Bearer {secret}"}


def ask(case: Any, headers: Headers) -> None:
    """Send a request and roll back its changes, so that the requests are independent."""
    with transaction.atomic():
        case.call_and_validate(headers=headers)
        transaction.set_rollback(True)


@published.parametrize()
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_every_response_conforms_to_the_schema(case: Any, headers: Headers) -> None:
    ask(case, headers)


@pytest.mark.parametrize(
    "answer",
    [Response({"slug": "detection"}), Response(status=418), ZeroDivisionError()],
    ids=["of another shape", "with another status", "that is a crash"],
)
def test_a_response_that_does_not_conform_is_found(answer: Any, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def get(*args: Any, **kwargs: Any) -> Response:
        if isinstance(answer, Exception):
            raise answer
        return Response(answer)

    monkeypatch.setattr(ChallengeDetail, "get", get)
    make.challenge(slug=REAL["slug"])
    case = published["/api/v1/challenges/{slug}"]["GET"].Case(path_parameters={"slug": REAL["slug"]})
    with pytest.raises(FailureGroup):
        ask(case, {})
