"""Text that is not seen, or that turns other text around, is shown as what it is.

Pages show texts of participants and organizers in very many places. They pass through here as a whole, so that no place
is forgotten. The admin is left out: a text that is edited there would be saved with what stands for its characters.
"""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], HttpResponse]

ADMIN = "/admin/"
# Control characters but for tab and line ends, what turns text, what has no width, fillers, tags.
HIDDEN = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    r"""Return a text of several lines with every hidden character escaped.

    >>> visible("caf\u00e9\t\u202egnp.exe")
    'café\t\\u202egnp.exe'
    """
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class VisibleTextMiddleware:
    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html") and not response.streaming
        if is_page and not request.path.startswith(ADMIN):
            page = response.content.decode()
            if HIDDEN.search(page):
                response.content = visible(page).encode()
        return response
