"""The organizers' table of the submissions of all teams: filtering, sorting and pagination."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils.http import urlencode

from server.challenges.models import Phase
from server.challenges.search_names import searchable
from server.errors import Refused
from server.submissions.feedback import load_scores
from server.submissions.models import Failure, Fault, Score, Status, Submission
from server.submissions.services import recovery

TEXT_CHARACTERS = 200
ROWS_AT_ONCE = 500
NEWEST_FIRST = "-received"
SORTS = {
    "received": "received_at",
    "file": "file_name",
    "team": "team__search_name",
    "user": "user__username",
    "status": "status",
    "score": "score",
}


@dataclass(frozen=True, slots=True)
class SubmissionFilter:
    """A selection of submissions and their order, as specified by a query string.

    An empty field does not restrict the selection.

    `team` and `user` match parts of names. `q` matches a part of a file name, a submission id, or the beginning of a
    SHA-256. `since` and `until` are days (UTC), inclusive. `sort` is a key of SORTS, with "-" for descending order.
    """

    status: str = ""
    fault: str = ""
    code: str = ""
    team: str = ""
    user: str = ""
    q: str = ""
    since: date | None = None
    until: date | None = None
    without_interval: bool = False
    hidden: bool = False
    sort: str = NEWEST_FIRST

    @property
    def is_active(self) -> bool:
        return replace(self, sort=NEWEST_FIRST) != SubmissionFilter()

    def query(self, **changes: Any) -> str:
        """Return this filter with the given changes as a query string without the question mark."""
        given = asdict(self) | changes
        values = {name: "yes" if value is True else value for name, value in given.items() if value}
        return urlencode({name: value for name, value in values.items() if value != NEWEST_FIRST})

    def conditions(self) -> Iterator[Q]:
        for name, value in (("status", self.status), ("fault", self.fault), ("failure_code", self.code)):
            if value:
                yield Q(**{name: value})
        if self.team:
            yield Q(team__search_name__contains=searchable(self.team))
        if self.user:
            yield Q(user__username__icontains=self.user)
        if self.q:
            yield Q(file_name__icontains=self.q) | Q(sha256__istartswith=self.q) | Q(pk__in=ids_in(self.q))
        if self.since:
            yield Q(received_at__gte=datetime.combine(self.since, time.min, UTC))
        if self.until:
            yield Q(received_at__lte=datetime.combine(self.until, time.max, UTC))

    def submissions(self, phase: Phase) -> QuerySet[Submission]:
        """Return the submissions to a phase that match this filter, in no particular order."""
        found = Submission.objects.filter(*self.conditions(), phase=phase).order_by()
        if self.hidden:
            found = found.exclude(hidden_at=None)
        if self.without_interval:
            found = found.filter(pk__in=recovery.without_interval().filter(phase=phase).order_by().values("pk"))
        return found

    def keys(self, phase: Phase) -> QuerySet[Any, UUID]:
        """Return the ids of the submissions that match this filter, in the order that the filter specifies.

        Submissions without a value to sort by come last.
        """
        found, name = self.submissions(phase), self.sort.removeprefix("-")
        if name == "score":
            found = found.annotate(score=Subquery(public_scores(phase)))
        order = F(SORTS[name])
        by = order.desc(nulls_last=True) if self.sort.startswith("-") else order.asc(nulls_last=True)
        return found.order_by(by, "-received_at", "pk").values_list("pk", flat=True)


def submission_filter(parameters: Mapping[str, str]) -> SubmissionFilter:
    """Return the filter described by a query string.

    Raises Refused for unknown parameters and values, because ignoring them would select more submissions than intended.
    """
    if unknown := sorted({*parameters} - {*SubmissionFilter.__slots__, "page"}):
        raise no_filter(unknown[0], "There is no such filter.")
    return SubmissionFilter(
        status=one_of(parameters, "status", Status.values),
        fault=one_of(parameters, "fault", Fault.values),
        code=one_of(parameters, "code", Failure.values),
        team=text(parameters, "team"),
        user=text(parameters, "user"),
        q=text(parameters, "q"),
        since=day(parameters, "since"),
        until=day(parameters, "until"),
        without_interval=bool(one_of(parameters, "without_interval", ("yes",))),
        hidden=bool(one_of(parameters, "hidden", ("yes",))),
        sort=one_of(parameters, "sort", (*SORTS, *(f"-{name}" for name in SORTS))) or NEWEST_FIRST,
    )


def no_filter(name: str, reason: str) -> Refused:
    return Refused("invalid", f"{name[:TEXT_CHARACTERS]}: {reason} No submission was selected.")


def one_of(parameters: Mapping[str, str], name: str, values: Iterable[str]) -> str:
    given = parameters.get(name, "")
    if given and given not in values:
        raise no_filter(name, f"The value must be one of {', '.join(filter(None, values))}.")
    return given


def text(parameters: Mapping[str, str], name: str) -> str:
    given = parameters.get(name, "")
    if "\0" in given or len(given) > TEXT_CHARACTERS:
        raise no_filter(name, f"The text has more than {TEXT_CHARACTERS} characters, or contains a NUL character.")
    return " ".join(given.split())


def day(parameters: Mapping[str, str], name: str) -> date | None:
    given = parameters.get(name, "")
    try:
        return date.fromisoformat(given) if given else None
    except ValueError:
        raise no_filter(name, "The value must be a date such as 2026-03-01.") from None


def ids_in(text: str) -> list[UUID]:
    try:
        return [UUID(text)]
    except ValueError:
        return []


def public_scores(phase: Phase) -> QuerySet[Score, Any]:
    """Return a subquery for a submission's public headline score with the current evaluation signature of the phase."""
    scores = Score.objects.filter(evaluation__submission=OuterRef("pk"), evaluation__signature=phase.signature)
    return scores.filter(split="public", metric=phase.declared_track.headline).order_by().values("value")[:1]


def read(phase: Phase, keys: list[UUID]) -> list[Submission]:
    """Return the submissions with these ids, in this order, with their teams, users and scores.

    Submissions that have been removed are left out.
    """
    rows = Submission.objects.select_related("team", "user").defer("problems", "note").in_bulk(keys)
    found = [rows[key] for key in keys if key in rows]
    for one in found:
        one.phase = phase
    load_scores(found)
    return found


def chunks(phase: Phase, chosen: SubmissionFilter) -> Iterator[list[Submission]]:
    """Yield all submissions to a phase that match a filter, in chunks.

    All ids are read before the first chunk, so submissions that arrive later are not included.
    """
    keys = list(chosen.keys(phase))
    for start in range(0, len(keys), ROWS_AT_ONCE):
        yield read(phase, keys[start : start + ROWS_AT_ONCE])
