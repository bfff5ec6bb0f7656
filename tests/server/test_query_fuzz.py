"""On every route, no query string causes a server error."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.core.files.base import ContentFile
from django.http import QueryDict
from django.http.response import HttpResponseBase
from django.test import Client
from django.urls import get_resolver
from django.utils.datastructures import MultiValueDict
from pytest_django import Settings

from server.accounts.models import User
from tests.conftest import Make
from tests.open_connections import connections_kept_open
from tests.server.conftest import Scored
from tests.server.test_access import APP_LABELS, routes

# The pages of the admin that list objects read these query parameters.
OF_LISTS = ("q", "o", "p", "e", "all", "_to_field", "_changelist_filters", "at__year", "nonsense")
TIMES = (
    *("0001-01-01T00:00", "0001-01-01T00:00:00+14:00", "0000-01-01", "9999-12-31T23:59", "9999-12-31T23:59:59-14:00"),
    *("2026-01-01T00:00:00+24:00", "10000-01-01"),
)
TEXTS = (
    *("%00", "%0d%0aX-Injected:%20yes", "%ff", "%ed%a0%80", "%e2%80%ae", "", "-1", "9" * 400, "1e999", "NaN", "%22'<"),
    *("../x", "[]", "x" * 5000, "json", "csv", "private", "de", "\u0663"),
)
WHOLE = ("=&&=", "at", "at=1&at=2", "page[]=1", "%00=1", "&".join("x=1" for _ in range(900)), "%ff=%ff")
KNOWN = {
    **{"slug": "c", "phase": "main", "pk": "00000000-0000-0000-0000-000000000001"},
    **{"submission_id": "00000000-0000-0000-0000-000000000001", "object_id": "1", "uidb64": "MQ", "token": "x"},
}


def addresses() -> list[str]:
    """Return the URLs of all routes except logout. Routes with a path parameter that is not in KNOWN are left out."""
    found = []
    for route in routes(get_resolver().url_patterns):
        path = "/" + route.replace("<path:object_id>", "<str:object_id>").removesuffix("$").replace("^", "")
        for name, value in KNOWN.items():
            for kind in ("slug:", "uuid:", "str:", "int:", ""):
                path = path.replace(f"<{kind}{name}>", value)
        if not any(mark in path for mark in ("<", "(", "[", "logout", APP_LABELS)):
            found.append(path)
    return found


@pytest.fixture
def superuser(make: Make, scored: Scored) -> User:
    """Create a superuser whose team has a scored submission."""
    user = make.user(is_staff=True, is_superuser=True)
    challenge = make.challenge(slug="c", closes_at=datetime.now(UTC) + timedelta(days=1))
    phase = make.phase(challenge, slug="main", sample_submission=ContentFile(b"ImageId\n", "s.csv"))
    team = make.team(challenge, user)
    scored(phase, 0.5, private=0.4, team=team, id=KNOWN["pk"])
    return user


@pytest.fixture
def names_read(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Record the names of the query parameters that views read, and return the set of these names."""
    names: set[str] = set()

    def noted(method: str) -> None:
        original = getattr(MultiValueDict, method)

        def look_up(self: MultiValueDict[str, Any], key: Any, *more: Any, **options: Any) -> Any:
            names.add(key)
            return original(self, key, *more, **options)

        monkeypatch.setattr(QueryDict, method, look_up)

    for method in ("__getitem__", "__contains__", "_getlist"):
        noted(method)
    return names


def closed(answer: HttpResponseBase) -> HttpResponseBase:
    """Close a response, because it may contain an open file, and return it."""
    with connections_kept_open():
        answer.close()
    return answer


@pytest.mark.parametrize("path", addresses())
def test_no_query_string_causes_a_server_error(
    path: str, superuser: User, names_read: set[str], settings: Settings
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 10**9
    client = Client(raise_request_exception=False)
    client.force_login(superuser)
    usual = closed(client.get(path)).status_code
    values = (*TIMES, *TEXTS)
    pairs = [(name, value) for name in sorted(names_read) for value in values]
    if path.startswith("/admin/"):
        pairs += [(name, value) for name in OF_LISTS for value in ("", *TIMES[:2], *TEXTS[:4])]
    broken = {}
    for query in (*WHOLE, *(f"{name}={quote(value, safe='%')}" for name, value in pairs)):
        answer = closed(client.get(path, QUERY_STRING=query))
        heads = "".join(f"{name}: {value}" for name, value in answer.items())
        if (answer.status_code >= 500 and answer.status_code != usual) or "\n" in heads or "X-Injected" in answer:
            broken[query[:80]] = answer.status_code
    assert broken == {}
