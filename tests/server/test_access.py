"""Every route responds with the status in `access_table.py`, for every method and every role of the user."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from django.urls import URLResolver, get_resolver

from server.accounts.models import ApiToken
from server.accounts.services import confirm_own_address, issue_token
from server.challenges.models import Block, JoinRequest, RoleOffer
from server.clock import database_now
from server.submissions.models import QuotaGrant
from server.submissions.services import quota, resumable
from server.teams.models import Invitation, MergeProposal
from tests.conftest import InlineQueue, Make
from tests.server.access_table import API, GROUPS, PAGES, ROLES, TABLE, Answers
from tests.server.conftest import Scored

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
REFUSALS = {401, 403, 404, 405}
# The fields that a request sends, keyed by the last path segment of its URL or by its HTTP method. All other requests
# send no fields.
BODIES: dict[str, dict[str, Any]] = {"join": {"accept_rules": True}, "edit": {"note": "x"}, "PATCH": {"note": "x"}}
MULTIPART = ("submissions", "truths", "baselines", "v1/challenges")  # API routes with these endings accept files.
QUERY = re.compile(r"(?<!\()\?.*")
APP_LABELS = "(?P<app_label>"


def routes(patterns: Any, before: str = "") -> Iterator[str]:
    """Yield every route in the URL configuration of the service."""
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route.partition(APP_LABELS)[0] + APP_LABELS if APP_LABELS in route else route


class World:
    """A challenge with a submission that has private scores, and a user for every role."""

    def __init__(self, make: Make, scored: Scored, *, visibility: str = "public") -> None:
        self.people = {role: make.user(username=role) for role in ROLES[1:]}
        for role in GROUPS["employees"]:
            self.people[role].is_staff, self.people[role].is_superuser = True, role == "superuser"
            self.people[role].save()
        confirm_own_address(self.people["member"])
        challenge = make.challenge(slug="c", visibility=visibility)
        challenge.organizers.add(self.people["organizer"])
        for role in ("editor", "viewer"):
            challenge.organizers.add(self.people[role], through_defaults={"role": role})
        make.challenge(slug="foreign").organizers.add(self.people["foreign"])
        phase = make.phase(
            challenge,
            slug="main",
            sample_submission=ContentFile(b"ImageId\n", "s.csv"),
            candidates=ContentFile(b"{}", "c.json"),
        )
        phase.truths.get().kit.save("kit.json", ContentFile(b"{}"))
        team = make.team(challenge, self.people["member"], self.people["mate"])
        rivals = make.team(challenge, self.people["rival"])
        self.scored = scored(phase, 0.5, private=0.4, team=team)
        quota.charge(self.scored, now=datetime.now(UTC))
        self.queued = make.submission(phase, team)
        self.request = JoinRequest.objects.create(
            challenge=challenge, user=make.user(), rules_accepted_at=datetime.now(UTC)
        )
        self.upload = resumable.begin(user=self.people["member"], team=team, phase=phase, length=1)
        weeks = {"created_at": database_now(), "expires_at": database_now() + timedelta(days=14)}
        self.team_rows = {
            "team": team.pk,
            "member": team.memberships.get(user=self.people["mate"]).pk,
            "invitation": Invitation.objects.create(
                team=team, kind=Invitation.Kind.PERSON, user=self.people["stranger"], **weeks
            ).pk,
            "proposal": MergeProposal.objects.create(team=rivals, other=team, **weeks).pk,
            "token": "a",
            "grant": QuotaGrant.objects.create(
                phase=phase, team=team, amount=1, day=None, reason="r", granted_at=database_now()
            ).pk,
            "block": Block.objects.create(
                challenge=challenge, user=make.user(), reason="r", blocked_at=database_now()
            ).pk,
            "organizer": challenge.organizer_roles.get(user=self.people["editor"]).pk,
            "offer": RoleOffer.objects.create(
                challenge=challenge, user=self.people["rival"], role="viewer", offered_at=database_now()
            ).pk,
        }
        self.token, _ = issue_token(user=self.people["member"], name="x", scope="read", days=1)
        self.device = UserSession.objects.create(user=self.people["member"], session_key="k", ip="192.0.2.1")
        self.clients = {role: Client(raise_request_exception=False) for role in ROLES}

    def authorize(self, *, api: bool) -> dict[str, dict[str, str]]:
        """Log in all users (for pages) or create API tokens (for the API). Return the request headers of each role."""
        if not api:
            for role, person in self.people.items():
                self.clients[role].force_login(person)
            return {role: {} for role in ROLES}
        scope = ApiToken.Scope.ORGANIZE
        secrets = {role: issue_token(user=one, name=role, scope=scope, days=1)[1] for role, one in self.people.items()}
        return {"nobody": {}} | {role: {"Authorization": f"Bearer {secret}"} for role, secret in secrets.items()}

    def address(self, route: str) -> str:
        """Return the URL of a route, with parameters that refer to existing rows."""
        submission = self.queued if "cancel" in route else self.scored
        names = {
            "slug": "c",
            "phase": "main",
            "submission_id": submission.pk,
            "upload_id": self.upload.id,
            "name": "organizer",
            "version": 1,
            "uidb36": "1",
            "tab": "errors",
            "key": "bad",
            "token": "bad",
            **self.team_rows,
            **{f"{name}_id": key for name, key in self.team_rows.items()},
            "merge_id": self.team_rows["proposal"],
            "username": "mate",
        }
        if found := re.match(r"admin/(\w+)/(\w+)/<", route):
            names |= dict.fromkeys(("object_id", "id"), apps.get_model(found[1], found[2]).objects.latest("pk").pk)
        own = {"tokens": self.token.pk, "devices": self.device.pk}
        names |= {"pk": next((pk for name, pk in own.items() if name in route), submission.pk)}
        names |= {"request_id": self.request.pk, "content_type_id": 1, "object_id": names.get("object_id", 1)}
        route = route.replace(f"^{APP_LABELS}", "challenges/").replace("(?P<url>.*)$", "x").replace(r"^[\s\S]*$", "x")
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(names[found[1]]), route)

    def answers(self, route: str, methods: tuple[str, ...] = METHODS) -> dict[str, Answers]:
        """Return the status of a route for every method and role. The changes of each request are rolled back."""
        api = route.startswith("api/")
        headers, address = self.authorize(api=api), self.address(route)
        return {
            method: {role: self.status(role, method, address, headers[role], api=api) for role in ROLES}
            for method in methods
        }

    def status(self, role: str, method: str, address: str, headers: dict[str, str], *, api: bool) -> int:
        body = BODIES.get(address.rpartition("/")[2]) or BODIES.get(method, {})
        client = self.clients[role]
        with transaction.atomic():
            if api and address.endswith(MULTIPART):
                form = {"data": b"--b--\r\n", "content_type": "multipart/form-data; boundary=b"}
                answer = client.generic(method, address, headers=headers, **form)
            elif api:
                data = "" if method == "GET" else json.dumps(body)
                answer = client.generic(method, address, data, "application/json", headers=headers)
            else:
                answer = client.post(address, body) if method == "POST" else client.generic(method, address)
            assert_safe(answer)
            transaction.set_rollback(True)
        to_login = answer.status_code == 302 and urlsplit(answer["Location"]).path.endswith("/login/")
        assert not (to_login and role in GROUPS["employees"] and "admin/login" not in address)
        return int(answer.status_code)


def assert_safe(answer: Any) -> None:
    """Check the headers of a response and, if it is a page, its HTML.

    Streamed responses are read to the end, because this closes the files that they send.
    """
    content, policy = b"".join(answer), answer.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    if answer.headers.get("Content-Type", "").startswith("text/html"):
        assert not re.search(rb"<style|\sstyle=|<script(?![^>]*\ssrc=|[^>]*json)|<[^>]+\son\w+=|javascript:", content)


@pytest.fixture
def world(make: Make, scored: Scored, inline_queue: InlineQueue) -> World:
    return World(make, scored)


@pytest.mark.parametrize("route", TABLE)
def test_every_response_has_the_status_of_the_table(route: str, world: World) -> None:
    found = world.answers(route)
    listed = {method: found[method] for method in TABLE[route]}
    assert listed == TABLE[route]
    others = {status for method in set(METHODS) - set(listed) for status in found[method].values()}
    if route.startswith("accounts/password"):
        others -= {302}  # These pages redirect anonymous users for every HTTP method.
    assert others <= REFUSALS


def test_the_table_contains_every_route() -> None:
    assert set(routes(get_resolver().url_patterns)) == {QUERY.sub("", route) for route in TABLE}


@pytest.mark.parametrize("route", [route for route in PAGES | API if "<slug:slug>" in route])
def test_a_private_challenge_does_not_exist_for_outsiders(route: str, make: Make, scored: Scored) -> None:
    found = World(make, scored, visibility="private").answers(route, tuple(TABLE[route]))
    for method, answers in found.items():
        assert {answers[role] for role in ("stranger", "foreign")} == {404}
        assert answers["nobody"] in (302, 401, 404)
        for role in (*GROUPS["teams"], *GROUPS["organizers"]):
            assert answers[role] == TABLE[route][method][role]
