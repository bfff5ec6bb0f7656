"""Tests the published schema of the API, and the page that shows it."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from jsonschema import Draft202012Validator

from tests.server.documented import schema
from tests.server.page import Page

ROUTES = {
    ("get", "/api/v1/challenges"),
    ("post", "/api/v1/challenges"),
    ("post", "/api/v1/challenges/{slug}/export"),
    ("get", "/api/v1/challenges/{slug}"),
    ("post", "/api/v1/challenges/{slug}/join"),
    ("get", "/api/v1/challenges/{slug}/join-requests"),
    ("post", "/api/v1/challenges/{slug}/join-requests/{request_id}"),
    ("get", "/api/v1/challenges/{slug}/team"),
    ("patch", "/api/v1/challenges/{slug}/team"),
    ("delete", "/api/v1/challenges/{slug}/team/members/{username}"),
    ("post", "/api/v1/challenges/{slug}/team/invitations"),
    ("post", "/api/v1/challenges/{slug}/team/merges"),
    ("get", "/api/v1/challenges/{slug}/team/merges/{merge_id}"),
    ("post", "/api/v1/challenges/{slug}/team/merges/{merge_id}"),
    ("get", "/api/v1/challenges/{slug}/teams/{team_id}"),
    ("get", "/api/v1/challenges/{slug}/invitations"),
    ("post", "/api/v1/challenges/{slug}/invitations"),
    ("post", "/api/v1/challenges/{slug}/invitations/{invitation_id}"),
    ("post", "/api/v1/invitations"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/quota"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/quota/statement"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/teams/{team_id}/grants"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/teams/{team_id}/grants"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/teams/{team_id}/grants/{grant_id}/take-back"),
    ("get", "/api/v1/challenges/{slug}/blocks"),
    ("post", "/api/v1/challenges/{slug}/blocks"),
    ("delete", "/api/v1/challenges/{slug}/blocks/{block_id}"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/baselines"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/baselines"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/baselines/{team_id}/remove"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/baselines/{team_id}/put-back"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/kit"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/template"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/candidates"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/submissions"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/submissions"),
    ("get", "/api/v1/submissions/{submission_id}"),
    ("patch", "/api/v1/submissions/{submission_id}"),
    ("get", "/api/v1/submissions/{submission_id}/report"),
    ("get", "/api/v1/submissions/{submission_id}/file"),
    ("post", "/api/v1/submissions/{submission_id}/cancel"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/leaderboard"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/leaderboard/history"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/results"),
    ("get", "/api/v1/signing-key"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/truths"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/truths"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/changes"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/rescore"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/rescore"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/rescore/apply"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/rescore/discard"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/uploads"),
    ("get", "/api/v1/uploads/{upload_id}"),
    ("patch", "/api/v1/uploads/{upload_id}"),
    ("delete", "/api/v1/uploads/{upload_id}"),
    ("post", "/api/v1/device/code"),
    ("post", "/api/v1/device/token"),
    ("get", "/api/v1/me"),
    ("delete", "/api/v1/me/token"),
}
OPERATIONS = [
    (path, method, body) for path, methods in schema().get("paths", {}).items() for method, body in methods.items()
]


def test_the_schema_is_valid_without_warnings(tmp_path: Path) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yaml"))
    written = yaml.safe_load((tmp_path / "schema.yaml").read_text())
    assert {(method, path) for path, methods in written["paths"].items() for method in methods} == ROUTES


def test_the_schema_has_every_route() -> None:
    assert {(method, path) for path, method, _ in OPERATIONS} == ROUTES


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_refusal_is_a_problem_document(path: str, method: str, operation: dict[str, Any]) -> None:
    refusals = {status: answer for status, answer in operation["responses"].items() if int(status) >= 400}
    assert {"401", "403", "406", "500"} <= set(refusals)
    for answer in refusals.values():
        assert answer["content"] == {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
        assert answer["description"].startswith("`")


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_operation_has_a_description(path: str, method: str, operation: dict[str, Any]) -> None:
    assert operation["description"]


def test_an_uploaded_file_is_binary() -> None:
    sent = schema()["components"]["schemas"]["UploadInputRequest"]["properties"]["file"]
    assert sent["format"] == "binary"


def test_public_routes_need_no_authentication() -> None:
    anybody = {path for path, _, operation in OPERATIONS if {} in operation["security"]}
    assert anybody == {
        "/api/v1/challenges",
        "/api/v1/challenges/{slug}",
        "/api/v1/challenges/{slug}/phases/{phase}/changes",
        "/api/v1/challenges/{slug}/teams/{team_id}",
        "/api/v1/challenges/{slug}/phases/{phase}/kit",
        "/api/v1/challenges/{slug}/phases/{phase}/template",
        "/api/v1/challenges/{slug}/phases/{phase}/candidates",
        "/api/v1/challenges/{slug}/phases/{phase}/leaderboard",
        "/api/v1/challenges/{slug}/phases/{phase}/leaderboard/history",
        "/api/v1/challenges/{slug}/phases/{phase}/results",
        "/api/v1/signing-key",
        "/api/v1/device/code",
        "/api/v1/device/token",
    }


@pytest.mark.parametrize("query", ["", "?format=json", "?format=yaml"])
def test_the_schema_is_served(client: Client, db: None, query: str) -> None:
    assert client.get(f"/api/v1/schema{query}").status_code == 200


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_operation_has_a_summary_and_valid_examples(path: str, method: str, operation: dict[str, Any]) -> None:
    assert 0 < len(operation["summary"]) < 120
    success = [answer for status, answer in operation["responses"].items() if int(status) < 300]
    for body in [operation.get("requestBody", {}), *success]:
        for media, content in body.get("content", {}).items():
            if media == "application/json":
                shape = {**content["schema"], "components": schema()["components"]}
                Draft202012Validator(shape).validate(content["example"])


def test_the_documentation_shows_every_operation_without_scripts(client: Client, db: None) -> None:
    page = Page(client.get("/api/v1/docs"))
    assert "`" not in page.words
    assert {("get", "/api/v1/challenges"), *ROUTES} == {
        (str(one.method).lower(), one.path) for section in page.context["sections"] for one in section.operations
    }
    assert page.all("h3", id="submit")
    assert "curl" in page.words
    assert page.all("a", href="/")
    assert not page.inline
