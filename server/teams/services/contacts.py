"""Limits how often a person can contact others with invitations, requests to join and proposed merges.

The limits protect people from unwanted messages.
"""

from datetime import datetime, timedelta

from django.conf import settings

from server.accounts.models import User
from server.challenges.models import Challenge
from server.clock import utc_text
from server.errors import Refused
from server.teams.models import SentInvitation

DAY = timedelta(days=1)
AGAIN_AFTER = timedelta(days=14)


def note_contact(*, sender: User, recipient: User, challenge: Challenge, now: datetime, is_merge: bool = False) -> None:
    """Record that one person contacted another. Raises Refused if the sender or the recipient has reached a limit.

    After contacting a person, the sender has to wait for `AGAIN_AFTER` before contacting the same person again.
    Proposed merges have a separate waiting time. An invitation must not delay a merge, because a team that has
    submitted can join another team only by merging.
    """
    SentInvitation.objects.filter(sent_at__lte=now - AGAIN_AFTER).delete()
    contact = {"sender": sender, "recipient": recipient, "challenge": challenge, "is_merge": is_merge}
    if earlier := SentInvitation.objects.filter(**contact).first():
        again_at = earlier.sent_at + AGAIN_AFTER
        detail = f"You contacted {recipient} less than {AGAIN_AFTER.days} days ago. You can do so again at"
        other_way = "" if is_merge else " You can create an invitation link at any time."
        raise Refused("rate_limited", f"{detail} {utc_text(again_at)}.{other_way}", resets_at=again_at)
    for who, name in ((sender, "sender"), (recipient, "recipient")):
        sent = SentInvitation.objects.filter(**{name: who}, sent_at__gt=now - DAY).order_by("sent_at")
        if len(times := list(sent.values_list("sent_at", flat=True))) >= settings.INVITATIONS_PER_DAY:
            verb = "sent" if who == sender else "received"
            detail = (
                f"{who} has {verb} {len(times)} invitations, requests and proposals within a day, which is the limit."
            )
            other_way = "" if is_merge else ", or create an invitation link"
            raise Refused("rate_limited", f"{detail} Try again later{other_way}.", resets_at=times[0] + DAY)
    SentInvitation.objects.create(**contact, sent_at=now)
