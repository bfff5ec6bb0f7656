"""Who sends a request: a person who is logged in, for views behind `login_required`; and from which address."""

from django.conf import settings
from django.http import HttpRequest

from server.accounts.models import User

READ_AND_SEND = ("GET", "HEAD", "POST")  # what an address with a form takes


class PersonRequest(HttpRequest):
    user: User


def address_of(request: HttpRequest) -> str:
    """The sender's address: what the outermost of our own proxies (PROXIES) saw. A header of the sender proves nothing.

    The list grows at its end, so what stands further left than our proxies wrote was sent along by anybody.
    """
    sender: str = request.META.get("REMOTE_ADDR", "")
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")[-settings.PROXIES :] if settings.PROXIES else []
    return next(iter(forwarded), "").strip() or sender
