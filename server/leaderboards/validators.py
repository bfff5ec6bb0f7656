"""Entity tags of leaderboards: the same as long as nothing has changed that the viewer can see."""

from hashlib import sha256

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control

from server.leaderboards.queries import ShownBoard


def fingerprint(*parts: object) -> str:
    """Return a short hash of what a response depends on."""
    return sha256(repr(parts).encode()).hexdigest()[:32]


def content_key(board: ShownBoard) -> tuple[object, ...]:
    """Return what the rows of a leaderboard depend on. Its version is raised with every change that it shows.

    The version of a public leaderboard does not depend on private scores or, under a ladder, on hidden ones.
    """
    kept = (board.kept.pk, board.kept.version) if board.kept else None
    access = (board.access.decimals, board.access.ladder, board.access.exact_ends)
    return (kept, board.split, board.signature, board.past, access)


def entity_tag(board: ShownBoard, *parts: object) -> str:
    """Return a weak tag of a response that shows a leaderboard and depends on these parts, too."""
    return f'W/"{fingerprint(content_key(board), *parts)}"'


def not_modified(request: HttpRequest, tag: str) -> HttpResponseBase | None:
    """Return a response without content if the request names this tag."""
    answer = get_conditional_response(request, etag=tag)
    return tagged(answer, tag) if answer is not None else None


def tagged(response: HttpResponseBase, tag: str) -> HttpResponseBase:
    """Add the tag to a response. A browser may keep it, and asks again every time whether it has changed."""
    response["ETag"] = tag
    patch_cache_control(response, private=True, no_cache=True)
    return response
