"""Sends requests that change data or are rejected, and keeps the responses, which are later searched for leaks."""

import json
import re
from collections.abc import Iterator
from urllib.parse import urlencode

from tests.flows.crawling import FORM, Output, Visitor
from tests.server.access_table import TABLE

TUS = {"Tus-Resumable": "1.0.0"}
BYTES = {**TUS, "Content-Type": "application/offset+octet-stream"}
JSON = {"Content-Type": "application/json"}
LOCATION = re.compile(rb"^Location: https?://[^/]+(\S+)$", re.MULTILINE)
WRITING = ("POST", "PUT", "PATCH", "DELETE")
# Requests to these URLs are not sent, because they would log a visitor out, revoke a token, end a membership, or cancel
# submissions that the tests need.
NOT_SENT = re.compile("logout|leave|cancel|admin/|me/token|revoke|sign-out")


class Recorder:
    """A client that sends requests as one visitor and keeps the responses."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.outputs: list[Output] = []

    def ask(self, method: str, path: str, body: str = "", *, expected: int = 0, **headers: str) -> bytes:
        status, answer = self.visitor.ask(method, path, body, **headers)
        assert expected in (0, status), (method, path, status, answer)
        assert status < 500, (method, path, status, answer)
        self.outputs.append(Output(f"{self.visitor.name}: {method} {path}", self.visitor.organizer, answer))
        return answer

    def post_form(self, path: str, **fields: str) -> bytes:
        form = {**fields, "csrfmiddlewaretoken": self.visitor.cookies.get("csrftoken", "")}
        return self.ask("POST", path, urlencode(form), **FORM)

    def begin_upload(self, phase: str, content: str) -> str:
        """Begin an upload to the phase with this API path, and return the URL path of the upload."""
        length = {"Upload-Length": str(len(content.encode()))}
        found = LOCATION.search(self.ask("POST", f"{phase}/uploads", expected=201, **TUS, **length))
        assert found
        return found[1].decode()


def upload_in_parts(owner: Visitor, other: Visitor, slug: str, content: str) -> list[Output]:
    """Upload a file in two requests, and send all other requests of the tus protocol, including invalid ones."""
    own, foreign, phase = Recorder(owner), Recorder(other), f"/api/v1/challenges/flows/phases/{slug}"
    own.ask("POST", f"{phase}/uploads", expected=412)
    own.ask("POST", f"{phase}/uploads", expected=422, **TUS)
    path, half = own.begin_upload(phase, content), len(content) // 2
    start, end = {"Upload-Offset": "0"}, {"Upload-Offset": str(len(content[:half].encode()))}
    own.ask("PATCH", path, content[:half], expected=204, **BYTES, **start)
    own.ask("PATCH", path, content, expected=409, **BYTES, **start)
    for method in ("HEAD", "GET", *WRITING):
        foreign.ask(method, path, **BYTES, **start)
    own.ask("HEAD", path, expected=200, **TUS)
    own.ask("PATCH", path, content[half:], expected=204, **BYTES, **end)
    own.ask("GET", path, expected=200)
    own.ask("PATCH", path, expected=204, **BYTES, **start)
    # The upload is rejected with 409, because the same file has already been submitted.
    own.ask("PATCH", own.begin_upload(phase, content), content, expected=409, **BYTES, **start)
    path = own.begin_upload(phase, content)
    own.ask("PATCH", path, content[:half], expected=204, **BYTES, **start)
    own.ask("DELETE", path, expected=204, **TUS)
    own.ask("HEAD", path, expected=404, **TUS)
    return own.outputs + foreign.outputs


def log_in_program(visitor: Visitor) -> list[Output]:
    """Log in a program with a device code, approve the code as the visitor, and request the token twice."""
    program, person = Recorder(Visitor(visitor.service, "program")), Recorder(visitor)
    about = json.dumps({"name": "a program", "scope": "submit"})
    answer = json.loads(program.ask("POST", "/api/v1/device/code", about, expected=200, **JSON).partition(b"\n\n")[2])
    secret = json.dumps({"device_code": answer["device_code"]})
    program.ask("POST", "/api/v1/device/token", secret, **JSON)
    for fields in ({}, {"decision": "approve"}):
        person.post_form("/accounts/device", code=answer["user_code"], **fields)
    program.ask("POST", "/api/v1/device/token", secret, expected=200, **JSON)
    program.ask("POST", "/api/v1/device/token", secret, **JSON)
    return program.outputs + person.outputs


def unusable_requests(visitor: Visitor, phase: str, submission: str) -> Iterator[Output]:
    """Send requests that would change data if their fields were valid: forms to pages, and JSON to the API."""
    recorder = Recorder(visitor)
    names = {"slug": "flows", "phase": phase, "pk": submission, "submission_id": submission, "upload_id": submission}
    for route in TABLE:
        if NOT_SENT.search(route) or "(?P" in route or "^" in route:
            continue
        path = "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: names.get(found[1], "1"), route.partition("?")[0])
        for method in WRITING:
            if path.startswith("/api/"):
                recorder.ask(method, path, '{"note": 1, "file": "x", "decision": "x"}', **JSON)
            elif method == "POST":
                recorder.post_form(path, note="x" * 1000, next=path)
            else:
                recorder.ask(method, path)
    yield from recorder.outputs
