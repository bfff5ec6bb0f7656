"""The list of pages, which other tests open in a browser, contains every page of the service."""

from collections import Counter

from django.urls import get_resolver, resolve

from tests.browser.every_page import Reader
from tests.server.access_console import ORGANIZED
from tests.server.access_table import CHALLENGE, PAGES, SUBMISSION
from tests.server.page import Page
from tests.server.test_access import QUERY, routes

# These routes are not pages. They respond to a GET request with a file, data, a redirect, or a part of a page.
WITHOUT_A_PAGE = {
    *(
        "livez",
        "healthz",
        "readyz",
        "metrics",
        "status.json",
        "podium.zip",
        "help/schema/challenge.json",
        "robots.txt",
        "sitemap.xml",
    ),
    *(f"{CHALLENGE}{name}" for name in ("data/sample", "data/candidates", "data/kit")),
    *(f"{CHALLENGE}{name}" for name in ("leaderboard.csv", "results.json", "results.csv")),
    *(f"{SUBMISSION}{name}" for name in ("panel", "report.json", "classes.csv", "curves.csv", "file")),
    *(f"{ORGANIZED}/phases/<slug:phase>/{name}" for name in ("live/panel", "submissions.csv")),
    *("invitations/<slug:token>", "accounts/two-factor/codes/download", "accounts/data/export"),
}
DOCS = "api/v1/docs"
STATUSES = {"/missing": 404, "/challenges/c/organizers": 403}


def route_of(address: str) -> str:
    return resolve(address.partition("?")[0].replace("/challenges/c/../", "/challenges/")).route


def test_the_list_contains_every_route_that_renders_a_page(readers: list[Reader]) -> None:
    read = {QUERY.sub("", route) for route, methods in PAGES.items() if "GET" in methods}
    known = {*routes(get_resolver().url_patterns)}
    assert known >= WITHOUT_A_PAGE
    opened = {route_of(address) for reader in readers for address in reader.addresses if "missing" not in address}
    assert opened == read - WITHOUT_A_PAGE | {DOCS}


def test_each_address_of_the_list_responds_with_a_page(readers: list[Reader]) -> None:
    for reader in readers:
        for address in reader.addresses:
            response = reader.client.get(address.replace("/challenges/c/../", "/challenges/"))
            status = next((code for start, code in STATUSES.items() if address.startswith(start)), 200)
            assert (response.status_code, address) == (status, address)
            assert response["Content-Type"].startswith("text/html")
            assert (b"This link cannot be used" in response.content) == ("/bad" in address)


def test_no_page_has_two_elements_with_the_same_id(readers: list[Reader]) -> None:
    repeated = set()
    for reader in readers:
        for address in reader.addresses:
            page = Page(reader.client.get(address.replace("/challenges/c/../", "/challenges/")))
            ids = Counter(attributes["id"] for _, attributes in page.elements if "id" in attributes)
            repeated |= {(address, one) for one, count in ids.items() if count > 1}
    assert repeated == set()
