"""The published schema of the API, and the page that shows it."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern, get_resolver

from tests.server.documented import schema

ROUTES = {
    ("get", "/api/v1/challenges"),
    ("get", "/api/v1/challenges/{slug}"),
    ("post", "/api/v1/challenges/{slug}/join"),
    ("get", "/api/v1/challenges/{slug}/join-requests"),
    ("post", "/api/v1/challenges/{slug}/join-requests/{request_id}"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/quota"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/quota/statement"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/submissions"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/submissions"),
    ("get", "/api/v1/submissions/{submission_id}"),
    ("patch", "/api/v1/submissions/{submission_id}"),
    ("get", "/api/v1/submissions/{submission_id}/report"),
    ("post", "/api/v1/submissions/{submission_id}/cancel"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/leaderboard"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/truths"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/truths"),
    ("get", "/api/v1/challenges/{slug}/phases/{phase}/rescore"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/rescore"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/rescore/apply"),
    ("post", "/api/v1/challenges/{slug}/phases/{phase}/rescore/discard"),
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
        "/api/v1/challenges/{slug}/phases/{phase}/leaderboard",
    }


@pytest.mark.parametrize("query", ["", "?format=json", "?format=yaml"])
def test_the_schema_is_served(client: Client, db: None, query: str) -> None:
    assert client.get(f"/api/v1/schema{query}").status_code == 200


def test_the_page_of_the_schema_has_no_inline_code(client: Client, db: None) -> None:
    answer = client.get("/api/v1/docs")
    html = answer.content.decode()
    assert "script-src 'self'; style-src 'self'" in answer.headers["Content-Security-Policy"]
    assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=|https?://", html)
    assert "swagger-ui-bundle" in html


def test_the_script_of_the_page_is_served(client: Client, db: None) -> None:
    answer = client.get("/api/v1/docs?script=")
    assert answer.headers["Content-Type"].startswith("application/javascript")
    assert b"SwaggerUIBundle(" in answer.content
    assert b'"validatorUrl": null' in answer.content


def test_every_address_below_the_api_is_answered_by_the_api() -> None:
    (api,) = [one for one in get_resolver().url_patterns if str(one.pattern) == "api/v1/"]
    last = api.url_patterns[-1]
    assert isinstance(last, URLPattern)
    assert last.pattern.match("anything/at\nall")


@pytest.mark.parametrize("query", ["version=%0a", "version=2", "version=%22;x", "lang=%00"])
def test_parameters_are_not_repeated_in_headers(client: Client, db: None, query: str) -> None:
    answer = client.get(f"/api/v1/schema?{query}")
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == 'inline; filename="Podium.yaml"'
