"""Search engines can find public challenges, and every page has a title and a description."""

import pytest
from django.test import Client
from pytest_django import Settings

from tests.conftest import Make
from tests.server.page import Page

URL = "https://podium.example.org"


@pytest.fixture(autouse=True)
def public(settings: Settings) -> None:
    settings.PODIUM_URL = URL


def test_the_site_map_lists_public_challenges_only(make: Make, client: Client) -> None:
    for visibility in ("public", "unlisted", "private"):
        make.challenge(slug=visibility, visibility=visibility)
    text = client.get("/sitemap.xml").content.decode()
    assert f"<loc>{URL}/challenges/public/leaderboard</loc>" in text
    assert "unlisted" not in text
    assert "private" not in text


def test_robots_txt_excludes_forms_and_names_the_site_map(client: Client, db: None) -> None:
    lines = client.get("/robots.txt").content.decode().splitlines()
    assert "Disallow: /accounts/" in lines
    assert f"Sitemap: {URL}/sitemap.xml" in lines


@pytest.mark.parametrize(
    ("address", "title", "description"),
    [
        ("/", "Podium", "official metrics"),
        ("/challenges/c/", "Cats", "Find all cats."),
        ("/challenges/c/data", "Data · Cats", "Find all cats."),
        ("/api/v1/docs", "API", "every operation"),
    ],
)
def test_a_page_has_a_title_and_a_description(
    address: str, title: str, description: str, make: Make, client: Client
) -> None:
    make.phase(make.challenge(slug="c", title="Cats", summary="Find all cats."))
    response = client.get(address)
    (meta,) = Page(response).all("meta", name="description")
    assert description in meta["content"]
    assert title in response.content.decode().partition("</title>")[0]


def test_headings_of_organizers_follow_those_of_the_page(make: Make, client: Client) -> None:
    text = "## First\n\n#### Second\n\n```\nlong line\n```\n\n| a |\n|---|\n| 1 |\n"
    make.phase(make.challenge(slug="c", description=text, data=text))
    levels = {
        address: [tag for tag, _ in Page(client.get(address)).elements if tag in ("h2", "h3", "h4")][-20:]
        for address in ("/challenges/c/", "/challenges/c/data")
    }
    assert levels["/challenges/c/"][-2:] == ["h2", "h3"]
    assert "h4" in levels["/challenges/c/data"]
    assert Page(client.get("/challenges/c/")).all("pre", tabindex="0")
    assert Page(client.get("/challenges/c/")).all("table", tabindex="0")
