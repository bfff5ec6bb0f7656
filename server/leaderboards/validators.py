"""Entity tags (ETags) for leaderboards. A tag stays the same as long as the viewer can see no change."""

from hashlib import blake2b

from django.conf import settings
from django.http import HttpRequest, HttpResponseNotModified
from django.http.response import HttpResponseBase

from server.leaderboards.earlier_ranks import compared_since, public_counterpart
from server.leaderboards.queries import ShownBoard


def fingerprint(*parts: object) -> str:
    """Return a short hash of the values that a response depends on.

    The hash is keyed, so that nobody can use it to test guesses about a value.
    """
    return blake2b(repr(parts).encode(), digest_size=16, key=settings.SECRET_KEY.encode()[:64]).hexdigest()


def content_key(board: ShownBoard) -> tuple[object, ...]:
    """Return a key that changes whenever the rows of a leaderboard change.

    The key contains the leaderboard's version, which increases with every visible change. The version of a public
    leaderboard does not depend on private scores or, under ladder feedback, on hidden scores. While the leaderboard is
    frozen, the version would reveal changes, so the key contains the current minute instead.
    """
    minute = board.now.replace(second=0, microsecond=0)
    kept, public = (
        (one.pk, minute if board.is_frozen else one.version) if one else None
        for one in (board.kept, public_counterpart(board))
    )
    access = (board.access.decimals, board.access.ladder, board.access.exact_ends)
    return (kept, board.split, board.signature, board.past, board.without, access, compared_since(board), public)


def entity_tag(board: ShownBoard, *parts: object) -> str:
    """Return a weak entity tag for a response that depends on a leaderboard and on the given values."""
    return f'W/"{fingerprint(content_key(board), *parts)}"'


def not_modified(request: HttpRequest, tag: str) -> HttpResponseBase | None:
    """Return a 304 response if the client's copy has this ETag (whether weak or strong), otherwise None."""
    named = request.headers.get("If-None-Match", "")
    return tagged(HttpResponseNotModified(), tag) if tag.removeprefix("W/") in named else None


def tagged(response: HttpResponseBase, tag: str) -> HttpResponseBase:
    """Add an entity tag to a response. A browser may store the response, but must revalidate it before each use."""
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    return response
