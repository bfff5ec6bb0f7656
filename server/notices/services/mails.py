"""Sends notices by email.

The database stores which emails are due; messages in the queue `mail` only wake the process that sends them. The
process first claims an email for the duration `LEASE`, then sends it, and then marks it as sent. If the process is
killed between the last two steps, the email is sent again after the claim has expired. It then has the same Message-ID,
so that email programs can show it only once. In all other cases, an email is sent at most once.
"""

import logging
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from allauth.account.models import EmailAddress
from celery import current_app
from django.conf import settings
from django.core import signing
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import F
from django.template.loader import render_to_string
from django.urls import reverse
from kombu.exceptions import OperationalError
from redis import RedisError

from evaluator.texts import without_hidden
from server.accounts.models import User
from server.clock import database_now
from server.notices.models import Kind, MailChoice, Notice
from server.submissions.queue import broker

DELIVER, QUEUE = "mail.deliver", "mail"
LEASE = timedelta(minutes=5)
ATTEMPTS = 6
FIRST_DELAY = timedelta(minutes=1)
# An email is dropped if it could not be sent within 2 days of the event.
EXPIRES = timedelta(days=2)
# Each task of the mailer sends at most 500 emails.
AT_ONCE = 500
SUBJECT_CHARACTERS = 120
SALT = "notices.unsubscribe"

log = logging.getLogger(__name__)


def wake() -> None:
    """Queue a task that sends emails, if emails are due and no task is queued.

    If the message broker is unavailable, only log a warning.
    """
    if not Notice.objects.mail_due(database_now()).exists():
        return
    try:
        if not broker(settings.REDIS_URL).llen(QUEUE):
            current_app.send_task(DELIVER, queue=QUEUE, retry=False)
    except (OperationalError, RedisError, ValueError) as error:
        log.warning("could not queue the task that sends emails; the next sweep tries again: %s", error)


def deliver_due() -> int:
    """Send the emails that are due. Return the number of sent emails.

    Raises OSError if the mail server does not respond.
    """
    sent = 0
    with get_connection() as connection:
        for _ in range(AT_ONCE):
            notice = claim_next()
            if notice is None:
                break
            sent += deliver(notice, connection)
    return sent


def claim_next() -> Notice | None:
    """Claim the next due email for the duration `LEASE`. Return its notice, or None if no email is due."""
    now = database_now()
    due = Notice.objects.mail_due(now).values_list("pk", "mail_at")
    while (found := due.first()) is not None:
        pk, mail_at = found
        values = {"mail_at": now + LEASE, "mail_attempts": F("mail_attempts") + 1}
        if Notice.objects.filter(pk=pk, mail_at=mail_at).update(**values):
            return Notice.objects.select_related("event__challenge", "user").get(pk=pk)
    return None


def deliver(notice: Notice, connection: BaseEmailBackend) -> bool:
    """Send the claimed email for a notice, and return whether it was sent.

    If sending fails, it is retried later. After `ATTEMPTS` attempts, the email is dropped.
    """
    now = database_now()
    row = Notice.objects.filter(pk=notice.pk)
    address = wanted_at(notice, now)
    if not address:
        row.update(mail_at=None)
        return False
    try:
        message_for(notice, address, connection).send()
    except (OSError, ValueError) as error:
        delay = FIRST_DELAY * 4 ** (notice.mail_attempts - 1)
        row.update(mail_at=None if notice.mail_attempts >= ATTEMPTS else now + delay)
        log.warning("could not send the email for notice %s: %s", notice.pk, type(error).__name__)
        return False
    row.update(mail_at=None, mailed_at=database_now())
    return True


def wanted_at(notice: Notice, now: datetime) -> str:
    """Return the address to which the email for a notice should be sent.

    The address is empty if the notice is too old, or if the user no longer wants emails or cannot receive them.
    """
    if now - notice.event.happened_at > EXPIRES or not notice.user.is_active:
        return ""
    wanted = MailChoice.objects.filter(user=notice.user_id, kind=notice.event.kind).exists()
    return address_of(notice.user) if wanted else ""


def address_of(user: User) -> str:
    """Return a user's confirmed email address, or an empty string if there is none.

    If the setting `CONFIRM_EMAIL` is off, return the address in the account.
    """
    if not settings.CONFIRM_EMAIL:
        return user.email
    confirmed = EmailAddress.objects.filter(user=user, verified=True).order_by("-primary", "pk")
    return confirmed.values_list("email", flat=True).first() or ""


def message_for(notice: Notice, address: str, connection: BaseEmailBackend) -> EmailMessage:
    """Return the email for a notice. Its headers allow unsubscribing with one click (RFC 8058)."""
    event, url = notice.event, settings.PODIUM_URL.rstrip("/")
    unsubscribe = url + reverse("unsubscribe", args=[unsubscribe_token(notice.user, Kind(event.kind))])
    context = {
        "event": event,
        "url": url + event.path,
        "settings_url": url + reverse("inbox"),
        "unsubscribe": unsubscribe,
        "host": urlsplit(url).netloc,
    }
    return EmailMessage(
        subject=f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{header_text(event.text)}",
        body=render_to_string("notices/mail.txt", context),
        to=[address],
        connection=connection,
        headers={
            "Message-ID": f"<notice-{notice.pk}@{urlsplit(url).hostname}>",
            "List-Unsubscribe": f"<{unsubscribe}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
            "Auto-Submitted": "auto-generated",
        },
    )


def header_text(text: str) -> str:
    r"""Return a text for use in an email header: on one line, shortened, and without hidden characters.

    >>> header_text("a\r\nBcc: x@example.org")
    'a Bcc: x@example.org'
    """
    line = without_hidden(" ".join(text.split()))
    return line if len(line) <= SUBJECT_CHARACTERS else f"{line[: SUBJECT_CHARACTERS - 1]}…"


def unsubscribe_token(user: User, kind: Kind) -> str:
    """Return a signed token whose only use is to turn off one kind of email for a user. It does not expire."""
    return signing.dumps([user.pk, kind.value], salt=SALT)


def unsubscribe(token: str) -> Kind | None:
    """Turn off the kind of email that a signed token names, and return this kind.

    Return None if the token is not valid.
    """
    kind = kind_of(token)
    if kind is not None:
        pk, _ = signing.loads(token, salt=SALT)
        MailChoice.objects.filter(user=pk, kind=kind).delete()
    return kind


def kind_of(token: str) -> Kind | None:
    """Return the kind of email that a signed token names, or None if the token is not valid."""
    try:
        _, kind = signing.loads(token, salt=SALT)
        return Kind(kind)
    except (signing.BadSignature, ValueError, TypeError):
        return None


@transaction.atomic
def choose(user: User, kinds: set[Kind]) -> None:
    """Save the kinds of notices that a user wants to receive by email."""
    own = MailChoice.objects.filter(user=user)
    own.exclude(kind__in=kinds).delete()
    MailChoice.objects.bulk_create([MailChoice(user=user, kind=kind) for kind in sorted(kinds)], ignore_conflicts=True)
