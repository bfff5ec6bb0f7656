"""Creates notices for the events since the last run of the sweeper, which is a periodic task.

Because the sweeper finds the events in the database, code that records a score, for example, does not have to write
notices. Each event has a unique key and is stored in the same transaction as its notices. Therefore each user gets only
one notice about an event, even if several sweepers run or one of them is killed.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from server.accounts.models import User
from server.challenges.models import Challenge
from server.clock import database_now
from server.notices.models import Event, MailChoice, Notice, Progress
from server.notices.services import top_three
from server.notices.services.events import Found, found_between

# An event can be committed later than its own timestamp. Therefore each run of the sweeper starts its search 5 minutes
# before the end of the previous search, and skips events that are already stored.
OVERLAP = timedelta(minutes=5)
SAVED_EVERY = timedelta(minutes=1)
KEPT = timedelta(days=180)
ROWS_AT_ONCE = 500


def derive() -> int:
    """Create the notices for all new events, and return the number of new events."""
    now = database_now()
    until = known_until(now)
    new = without_known(found_between(until - OVERLAP, now))
    boards = top_three.changed_boards()
    if not new and not boards and now - until < SAVED_EVERY:
        return 0
    return write(new, [board.pk for board in boards], now)


def known_until(now: datetime) -> datetime:
    """Return the time up to which events have been processed.

    The first call returns `now`, so that there are no notices about older events.
    """
    found, _ = Progress.objects.get_or_create(pk=1, defaults={"until": now})
    return found.until


def without_known(found: Iterable[Found]) -> list[Found]:
    """Return the given events that are not stored in the database yet."""
    events = {(one.kind.value, one.key): one for one in found}
    known: set[tuple[str, str]] = set()
    keys = [key for _, key in events]
    for start in range(0, len(keys), ROWS_AT_ONCE):
        some = Event.objects.filter(key__in=keys[start : start + ROWS_AT_ONCE])
        known |= set(some.values_list("kind", "key"))
    return [one for names, one in events.items() if names not in known]


@transaction.atomic
def write(new: list[Found], boards: list[int], now: datetime) -> int:
    """Store events with their notices. A lock ensures that only one sweeper does this at a time."""
    Progress.objects.select_for_update().get(pk=1)
    overtaken = [
        one for board in top_three.changed_boards() if board.pk in boards for one in top_three.look_at(board, now)
    ]
    events = without_known([*new, *overtaken])
    for one in events:
        tell(one, now)
    Event.objects.filter(happened_at__lt=now - KEPT).delete()
    Progress.objects.filter(pk=1).update(until=now)
    return len(events)


def tell(found: Found, now: datetime) -> None:
    """Store an event, with one notice for each recipient. Without recipients, nothing is stored.

    For recipients who want emails about this kind of event, an email is scheduled.
    """
    people = readers(found)
    if not people:
        return
    event = Event.objects.create(
        kind=found.kind,
        key=found.key,
        challenge_id=found.challenge,
        text=found.text[:500],
        path=found.path,
        happened_at=now,
    )
    choices = MailChoice.objects.filter(kind=found.kind, user__in=people)
    mailed = set(choices.values_list("user", flat=True)) if found.with_mail else set()
    Notice.objects.bulk_create(
        [Notice(event=event, user_id=pk, mail_at=now if pk in mailed else None) for pk in people],
        batch_size=ROWS_AT_ONCE,
    )
    for some in batches(people):
        count_unread(User.objects.filter(pk__in=some))


def readers(found: Found) -> list[int]:
    """Return the user ids of the recipients of an event, excluding users who may not see its challenge."""
    people = User.objects.filter(found.recipients, is_active=True).order_by("pk").distinct()
    private = Challenge.objects.filter(pk=found.challenge, visibility=Challenge.Visibility.PRIVATE).exists()
    if private:
        people = people.filter(Q(memberships__challenge=found.challenge) | Q(organized_challenges=found.challenge))
    return list(people.values_list("pk", flat=True))


def batches(people: list[int]) -> Iterator[list[int]]:
    return (people[start : start + ROWS_AT_ONCE] for start in range(0, len(people), ROWS_AT_ONCE))


def count_unread(people: "QuerySet[User]") -> None:
    """Store each user's number of unread notices in the account, so that pages can show it without a query."""
    own = Notice.objects.order_by().unread().filter(user=OuterRef("pk")).values("user")
    people.update(unread_notices=Coalesce(Subquery(own.annotate(number=Count("pk")).values("number")), 0))


@transaction.atomic
def mark_read(user: User) -> None:
    """Mark all notices of a user as read."""
    Notice.objects.unread().filter(user=user).update(read_at=database_now())
    count_unread(User.objects.filter(pk=user.pk))
