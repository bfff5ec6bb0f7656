"""Who sends a request: a person who is logged in, for views behind `login_required`; and from which address."""

from django.http import HttpRequest

from server.accounts.addresses import sender_of
from server.accounts.models import User

READ_AND_SEND = ("GET", "HEAD", "POST")  # what an address with a form takes


class PersonRequest(HttpRequest):
    user: User


def address_of(request: HttpRequest) -> str:
    """The sender's address, for limits and logs."""
    return sender_of(request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", ""))
