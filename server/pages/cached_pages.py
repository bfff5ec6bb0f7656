"""Caches rendered HTML pages as compressed bytes in the memory of each web process."""

import gzip
from collections.abc import Callable

from django.core.cache import caches
from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import re_accepts_gzip
from django.utils.cache import patch_vary_headers

from evaluator.hidden import revealed


def cached_page(request: HttpRequest, key: str, render: Callable[[], str]) -> HttpResponse:
    """Return the HTML page that is cached under the given key. If there is none, render the page and cache it.

    All viewers get the same cached copy, so the page must not depend on the viewer or contain a secret.
    """
    packed: bytes | None = caches["boards"].get(key)
    if packed is None:
        packed = gzip.compress(revealed(render().encode()), compresslevel=6)
        caches["boards"].set(key, packed)
    if re_accepts_gzip.search(request.headers.get("Accept-Encoding", "")):
        response = HttpResponse(packed, headers={"Content-Encoding": "gzip"})
    else:
        response = HttpResponse(gzip.decompress(packed))
    patch_vary_headers(response, ["Accept-Encoding"])
    return response
