"""The API conforms to its published schema, for generated valid and invalid requests of three kinds of users.

Each operation is tested with hundreds of edge cases from schemathesis and PODIUM_API_EXAMPLES random requests,
which are the same in every run. A test fails on a server error or an undocumented status, media type or body. It
also fails if the API accepts input that the schema forbids, or rejects input that the schema allows.
"""

import os
import re
from contextlib import closing
from datetime import UTC, datetime
from io import BytesIO
from typing import Any
from uuid import UUID
from zipfile import ZipFile

import hypothesis
import pytest
import schemathesis
from django.core.files.base import ContentFile
from django.db import transaction
from pytest_django import Settings
from rest_framework.response import Response
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import FailureGroup

from server.accounts.models import ApiToken
from server.accounts.services import issue_token
from server.api.views.challenges import ChallengeDetail
from server.challenges.models import Block, JoinRequest
from server.submissions import partial_uploads
from server.submissions.partial_uploads import PartialUpload
from server.wsgi import application
from tests.conftest import InlineQueue, Make
from tests.open_connections import connections_kept_open
from tests.server.conftest import Scored
from tests.server.documented import schema

EXAMPLES = int(os.environ.get("PODIUM_API_EXAMPLES", "40"))
MANY = 10**9
UPLOAD = UUID(int=2)
REAL = {"slug": "detection", "phase": "main", "submission_id": str(UUID(int=1)), "request_id": "1"}
REAL["upload_id"] = str(UPLOAD)
REAL |= {"username": "mate", "merge_id": "1", "team_id": "1", "invitation_id": "1", "grant_id": "1", "block_id": "1"}
UUIDS = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
PATTERNS = {"submission_id": UUIDS, "upload_id": UUIDS, "request_id": "[0-9]+"}
PATTERNS |= dict.fromkeys(("merge_id", "team_id", "invitation_id", "grant_id", "block_id"), "[0-9]+")
OFF = {"enabled": False}
CONFIG = {
    "seed": 20261121,
    "generation": {"max-examples": EXAMPLES, "deterministic": True, "with-security-parameters": False},
    "phases": {"stateful": OFF},
    "operations": [
        # Two checks of schemathesis are disabled for operations with uploaded files. Form fields have no types, so
        # requests that the schema forbids may be accepted. Django ignores empty files from werkzeug's test client, so
        # requests that the schema allows may be rejected.
        {
            "include-operation-id": ["submit", "add_truth", "add_baseline", "import_challenge"],
            "checks": {"positive_data_acceptance": OFF, "negative_data_rejection": OFF},
        },
        # The schema does not describe which characters team names and notes may contain. Requests that are valid
        # according to the schema may therefore be rejected.
        {
            "include-operation-id": ["join_challenge", "change_submission", "start_device_login"],
            "checks": {"positive_data_acceptance": OFF},
        },
        # The schema allows any team name, username and day, and any decision about an invitation or request. The
        # application also checks rules that a schema cannot express, so it may reject requests that the schema allows.
        {
            "include-operation-id": [
                *("change_team", "remove_member", "invite", "propose_merge", "decide_merge"),
                *("request_to_join_team", "answer_invitation", "accept_invitation_link"),
                *("grant_submissions", "take_back_grant", "block_person"),
            ],
            "checks": {"positive_data_acceptance": OFF},
        },
        # Nobody has approved the generated device codes, and generated file contents do not continue any upload, so
        # valid requests may be rejected.
        {
            "include-operation-id": ["fetch_device_token", "begin_upload", "continue_upload"],
            "checks": {
                "positive_data_acceptance": OFF,
                "negative_data_rejection": {"expected-statuses": [*range(400, 416), 422, 429, "5xx"]},
            },
        },
    ],
}
SCOPES = {"nobody": None, "member": ApiToken.Scope.SUBMIT, "organizer": ApiToken.Scope.ORGANIZE}

Headers = dict[str, str]


def served(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    """Call the application. Schemathesis neither reads the whole response nor closes it, so do both here."""
    with connections_kept_open(), closing(application(environ, start_response)) as answer:
        return list(answer)


@schemathesis.serializer("application/offset+octet-stream")
def bytes_of(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


published = schemathesis.openapi.from_dict(schema(), config=SchemathesisConfig.from_dict(CONFIG))
published.app = served


@published.hook
def map_path_parameters(context: Any, drawn: dict[str, Any] | None) -> dict[str, Any]:
    """Replace most generated path parameters with those of existing rows. The remaining ones test 404 responses."""
    return {name: real(name, str(value)) for name, value in (drawn or {}).items()}


def real(name: str, drawn: str) -> str:
    well_formed = re.fullmatch(PATTERNS.get(name, ".*"), drawn, re.DOTALL)
    return REAL[name] if well_formed and len(drawn) % 5 else drawn


def zipped() -> bytes:
    """Return the zip file of a ground truth, which the server stores so that the challenge can be exported."""
    with ZipFile(content := BytesIO(), "w") as archive:
        archive.writestr("truth.csv", "ImageID\n")
    return content.getvalue()


@pytest.fixture(params=SCOPES)
def headers(
    request: pytest.FixtureRequest, make: Make, scored: Scored, settings: Settings, inline_queue: InlineQueue
) -> Headers:
    """Create a challenge with limits that the test cannot reach, and return the request headers of a user."""
    settings.API_REQUESTS_PER_MINUTE = settings.API_ANONYMOUS_REQUESTS_PER_MINUTE = MANY
    phase = make.phase(make.challenge(slug=REAL["slug"]), slug=REAL["phase"], quota_per_day=MANY, attempts_per_day=MANY)
    assert phase.truth is not None
    phase.truth.source.save("truth.zip", ContentFile(zipped()))
    people = {name: make.user(username=name) for name in SCOPES}
    phase.challenge.organizers.add(people["organizer"])
    team = make.team(phase.challenge, people["member"])
    scored(phase, 0.5, private=0.4, team=team, id=REAL["submission_id"])
    upload = PartialUpload(UPLOAD, people["member"].pk, phase.pk, length=10, file_name="p.csv", note="", key="key")
    partial_uploads.create(upload)
    asked = {"user": make.user(), "rules_accepted_at": datetime.now(UTC), "pk": REAL["request_id"]}
    JoinRequest.objects.create(challenge=phase.challenge, **asked)
    blocked = {"user": make.user(), "reason": "r", "blocked_at": datetime.now(UTC), "pk": REAL["block_id"]}
    Block.objects.create(challenge=phase.challenge, **blocked)
    scope = SCOPES[request.param]
    if scope is None:
        return {}
    _, secret = issue_token(user=people[request.param], name="conformance", scope=scope, days=1)
    return {"Authorization": f"Bearer {secret}"}


def ask(case: Any, headers: Headers) -> None:
    """Send a request and roll back its changes, so that each request is independent of the others."""
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
def test_a_response_that_does_not_conform_is_detected(answer: Any, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def get(*args: Any, **kwargs: Any) -> Response:
        if isinstance(answer, Exception):
            raise answer
        return Response(answer)

    monkeypatch.setattr(ChallengeDetail, "get", get)
    make.challenge(slug=REAL["slug"])
    case = published["/api/v1/challenges/{slug}"]["GET"].Case(path_parameters={"slug": REAL["slug"]})
    with pytest.raises(FailureGroup):
        ask(case, {})
