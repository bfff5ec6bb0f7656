"""Tests conditional requests: the status is 304 as long as a leaderboard has not changed."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client

from server.accounts.models import User
from server.challenges.disqualification import disqualify
from server.challenges.models import Phase, Team
from server.leaderboards.models import Board
from server.leaderboards.validators import fingerprint
from server.submissions.models import Submission
from server.submissions.signals import announce
from tests.server.conftest import Scored

API = "/api/v1/challenges/c/phases/main/leaderboard"
ADDRESSES = ("/challenges/c/leaderboard", "/challenges/c/leaderboard.csv", API, f"{API}?format=csv", f"{API}?all=1")
NOW = datetime.now(UTC)

pytestmark = pytest.mark.phase(challenge={"slug": "c"}, slug="main", closes_at=NOW + timedelta(days=1))


@pytest.fixture
def best(phase: Phase, make: Any, scored: Scored) -> Submission:
    scored(phase, 0.5, private=0.5, team=make.team(phase.challenge, name="Second"))
    return scored(phase, 0.9, private=0.9, team=make.team(phase.challenge, name="First"))


def tags(client: Client) -> list[str]:
    return [client.get(address)["ETag"] for address in ADDRESSES]


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_unchanged_leaderboard_is_not_sent_again(best: Submission, client: Client, address: str) -> None:
    first = client.get(address)
    again = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert first["ETag"].startswith('W/"')
    assert "no-cache" in first["Cache-Control"]


def rename(best: Submission, scored: Scored) -> None:
    best.team.name = "Renamed"
    best.team.save()


CHANGES: dict[str, Callable[[Submission, Scored], Any]] = {
    "a better score": lambda best, scored: scored(best.phase, 0.95, team=best.team),
    "a worse score, which is counted": lambda best, scored: scored(best.phase, 0.1, team=best.team),
    "another team": lambda best, scored: scored(best.phase, 0.1),
    "a name": rename,
    "a disqualification": lambda best, scored: disqualify(team=best.team, by=None, reason="Two accounts"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_visible_change_is_sent(best: Submission, scored: Scored, client: Client, change: str) -> None:
    before = tags(client)
    CHANGES[change](best, scored)
    assert not set(before) & set(tags(client))


def test_a_cached_page_is_not_used_after_a_new_score(phase: Phase, best: Submission, scored: Scored) -> None:
    for _ in range(2):
        assert b"0.9" in Client().get(ADDRESSES[0]).content
    scored(phase, 0.97, team=best.team)
    assert b"0.97" in Client().get(ADDRESSES[0]).content


def test_private_changes_do_not_change_the_entity_tags_of_public_leaderboards(best: Submission, client: Client) -> None:
    before, private = tags(client), Board.objects.get(kind="private").version
    worse = Submission.objects.exclude(pk=best.pk).get()
    worse.evaluations.get().scores.filter(split="private").update(value=0.1)
    announce(worse.phase, [worse.team_id])
    assert Board.objects.get(kind="private").version > private
    assert tags(client) == before


def test_viewers_who_see_different_things_get_different_entity_tags(
    best: Submission, make: Any, client: Client
) -> None:
    organizer, member = Client(), Client()
    user = make.user()
    best.phase.challenge.organizers.add(user)
    organizer.force_login(user)
    member.force_login(best.team.memberships.get().user)
    for address in ADDRESSES:
        if "csv" not in address:
            assert len({one.get(address)["ETag"] for one in (client, organizer, member)}) == 3
    assert b"you" in member.get(ADDRESSES[0]).content.partition(b"<tbody>")[2]


def test_a_member_does_not_get_a_page_cached_for_another_member(best: Submission, make: Any) -> None:
    """All members share the rows in the cache. The mark on the viewer's own team is added later, to each response."""
    first, other = Client(), Client()
    first.force_login(best.team.memberships.get().user)
    other.force_login(Team.objects.get(name="Second").memberships.get().user)
    for client, own in ((first, b"First"), (other, b"Second"), (first, b"First")):
        (row,) = [one for one in client.get(ADDRESSES[0]).content.split(b"<tr") if b'class="mine' in one]
        assert own in row


@pytest.mark.parametrize("change", [{"unread_notices": 3}, {"username": "renamed"}])
def test_a_change_that_only_the_header_of_the_page_shows_is_sent(
    best: Submission, client: Client, change: dict[str, Any]
) -> None:
    member = best.team.memberships.get().user
    client.force_login(member)
    client.get(ADDRESSES[0])  # The first response sets the CSRF cookie, on which the ETag depends.
    before = client.get(ADDRESSES[0])["ETag"]
    User.objects.filter(pk=member.pk).update(**change)
    assert client.get(ADDRESSES[0], headers={"If-None-Match": before}).status_code == 200


def test_a_new_organizer_gets_the_link_of_organizers(best: Submission, make: Any, client: Client) -> None:
    member = best.team.memberships.get().user
    client.force_login(member)
    client.get(ADDRESSES[0])
    before = client.get(ADDRESSES[0])["ETag"]
    make.challenge().organizers.add(member)
    assert b">Organize</a>" in client.get(ADDRESSES[0], headers={"If-None-Match": before}).content


def test_a_history_with_ranks_of_the_last_minute_is_sent_again_when_they_are_current(
    phase: Phase, best: Submission, scored: Scored, client: Client
) -> None:
    """A client that received outdated ranks just after a change must not keep them until the next change."""

    def last_score(answer: Any) -> float:
        return float(answer.json()["results"][0]["points"][-1]["score"])

    client.get(f"{API}/history")
    scored(phase, 0.95, team=best.team)
    old = client.get(f"{API}/history")
    caches["history"].clear()  # Simulate that a minute has passed.
    again = client.get(f"{API}/history", headers={"If-None-Match": old["ETag"]})
    assert (last_score(old), again.status_code, last_score(again)) == (0.9, 200, 0.95)
    assert client.get(f"{API}/history", headers={"If-None-Match": again["ETag"]}).status_code == 304


def test_a_page_is_compressed_and_a_download_is_not(best: Submission, client: Client) -> None:
    for address, encoding in ((ADDRESSES[0], "gzip"), (ADDRESSES[1], ""), (ADDRESSES[2], "")):
        answer = client.get(address, headers={"Accept-Encoding": "gzip"})
        assert answer.headers.get("Content-Encoding", "") == encoding


def test_a_cached_page_is_the_same_with_and_without_compression(best: Submission, client: Client) -> None:
    plain, *packed = [client.get(ADDRESSES[0], headers={"Accept-Encoding": one}) for one in ("", "gzip", "gzip, br")]
    assert "Content-Encoding" not in plain.headers
    for one in packed:
        assert gzip.decompress(one.content) == plain.content
        assert (one["ETag"], one["Vary"]) == (plain["ETag"], plain["Vary"])
        assert one["Content-Length"] == str(len(one.content))
        assert "Accept-Encoding" in one["Vary"]


def test_an_entity_tag_cannot_be_computed_without_the_key_of_the_service(settings: Any) -> None:
    before = fingerprint("guess")
    settings.SECRET_KEY = "another"
    assert fingerprint("guess") != before


def test_the_whole_leaderboard_is_one_stream_of_json(phase: Phase, make: Any, scored: Scored, client: Client) -> None:
    for number in range(101):
        scored(phase, number / 200)
    answer = client.get(f"{API}?all=1&format=json")
    assert answer.streaming
    whole = json.loads(b"".join(answer.streaming_content))
    pages = [client.get(f"{API}?page={page}").json()["results"] for page in (1, 2)]
    assert whole["count"] == len(whole["results"]) == 101
    known = [{**row, "tied": None} for page in pages for row in page]
    assert whole["results"] == known
