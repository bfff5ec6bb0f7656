"""The request of someone who is logged in, for views behind `login_required`."""

from django.http import HttpRequest

from server.accounts.models import User


class PersonRequest(HttpRequest):
    user: User
