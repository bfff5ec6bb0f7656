"""A compiled query returns the same rows as its queryset, whatever the arguments, and is compiled only once."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db.models import Exists, F, OuterRef, QuerySet

from server.challenges.models import Challenge, Membership, Phase, Team
from server.compiled_queries import compiled_query
from server.submissions.models import Submission

NOW = datetime.now(UTC)


def by_number(*, challenge: int) -> QuerySet[Any]:
    joined = Exists(Membership.objects.filter(challenge=OuterRef("challenge"), user__is_active=True))
    return Phase.objects.select_related("challenge").filter(challenge=challenge).annotate(joined=joined)


def by_numbers(*, challenges: list[int]) -> QuerySet[Any]:
    return Phase.objects.filter(challenge__in=challenges).order_by("-pk")


def by_text(*, slug: str) -> QuerySet[Any, Any]:
    return (
        Phase.objects.filter(challenge__slug=slug)
        .annotate(named=F("slug"))
        .values_list("named", "challenge__title", "opens_at")
    )


def by_id(*, challenge: int) -> QuerySet[Any, Any]:
    return Phase.objects.filter(challenge=challenge).values_list("pk", "challenge__title", "opens_at", named=True)


def by_time(*, after: datetime | None) -> QuerySet[Any]:
    found = Phase.objects.order_by("pk")
    return found if after is None else found.filter(opens_at__gt=after)


def by_uuid(*, submission: UUID) -> QuerySet[Any]:
    return Submission.objects.select_related("team", "user").filter(pk=submission)


def by_uuids(*, submissions: list[UUID]) -> QuerySet[Any]:
    return Submission.objects.filter(pk__in=submissions).order_by("pk")


def by_rows(*, rows: range) -> QuerySet[Any]:
    return Team.objects.order_by("pk")[rows.start : rows.stop]


def arguments(phases: list[Phase], submissions: list[Submission]) -> list[tuple[Callable[..., Any], str, list[Any]]]:
    numbers = [phase.challenge_id for phase in phases]
    return [
        (by_number, "challenge", [*numbers, 0]),
        (by_numbers, "challenges", [numbers[:2], numbers[1:], []]),
        (by_uuids, "submissions", [[one.pk for one in submissions], [submissions[0].pk]]),
        (by_text, "slug", ["one", "two", "'; --"]),
        (by_id, "challenge", [*numbers, 0]),
        (by_time, "after", [None, NOW, NOW - timedelta(days=3)]),
        (by_uuid, "submission", [submission.pk for submission in submissions]),
        (by_rows, "rows", [range(2), range(1, 3), range(7, 9), range(0)]),
    ]


@pytest.fixture
def phases(make: Any) -> list[Phase]:
    dates = (None, NOW - timedelta(days=2), NOW + timedelta(days=2))
    slugs = ("one", "two", "three")
    return [make.phase(make.challenge(slug=slug), opens_at=at) for slug, at in zip(slugs, dates, strict=True)]


def content(row: Any) -> Any:
    """Return the contents of a database row, including its related rows and annotations."""
    if isinstance(row, tuple):
        return row, getattr(row, "_fields", None)
    related = {name: content(one) for name, one in row._state.fields_cache.items() if one is not None}
    plain = {name: value for name, value in vars(row).items() if name != "_state"}
    return type(row), plain, related, row._state.db, row._state.adding


def test_a_compiled_query_returns_the_rows_of_its_queryset(phases: list[Phase], make: Any) -> None:
    teams = [make.team(phases[0].challenge, make.user()), make.team(phases[1].challenge)]
    submissions = [make.submission(phases[0], team) for team in teams]
    for build, name, values in arguments(phases, submissions):
        compiled = compiled_query(build)
        for value in values:
            found = [content(row) for row in compiled(**{name: value})]
            expected = build(**{name: value})
            assert found == [content(row) for row in expected], (build, value)


def test_a_queryset_is_compiled_once(phases: list[Phase]) -> None:
    built = []

    @compiled_query
    def found(*, slug: str, at: datetime | None) -> QuerySet[Challenge]:
        built.append(at)
        return Challenge.objects.filter(slug=slug) if at is None else Challenge.objects.filter(slug=slug, opens_at=at)

    for slug in ("one", "two", "four"):
        assert [one.slug for one in found(slug=slug, at=None)] == [slug] * (slug != "four")
        assert found(slug=slug, at=NOW) == []
    assert len(built) == 2


@pytest.mark.parametrize(
    "queryset",
    [lambda: Phase.objects.values_list("pk", flat=True), lambda: Phase.objects.prefetch_related("truths")],
    ids=["flat values", "prefetching"],
)
def test_a_queryset_whose_rows_would_be_wrong_is_refused(queryset: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        compiled_query(queryset)()
