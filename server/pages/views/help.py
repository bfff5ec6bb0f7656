"""The pages of the online handbook, and the JSON Schema of challenge.yaml."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from evaluator.bundle.schema import challenge_schema
from server.organize.services.signing_keys import public_key
from server.pages.challenge.commands import install_command
from server.pages.help.tables import all_tracks, key_rows

TEXTS = Path(__file__).parents[1] / "help"
CHAPTERS = {
    "organizer": "Organize a challenge",
    "challenge-yaml": "Keys of challenge.yaml",
    "truths": "Ground truth of every track",
    "participant": "Take part",
    "results": "Verify results",
    "api": "API",
    "operator": "Operate a server",
}
CACHE_SECONDS = 3600


@require_safe
def contents(request: HttpRequest) -> HttpResponse:
    """Show the table of contents of the handbook."""
    return render(request, "help/contents.html", {"chapters": CHAPTERS})


@require_safe
def chapter(request: HttpRequest, name: str) -> HttpResponse:
    """Show a chapter of the online handbook."""
    if name not in CHAPTERS:
        raise Http404("no such chapter")
    context: dict[str, Any] = {"chapters": CHAPTERS, "name": name, "title": CHAPTERS[name], "text": text_of(name)}
    if name == "challenge-yaml":
        context["keys"] = list(key_rows())
    elif name == "truths":
        context["tracks"] = all_tracks()
    elif name == "results":
        context["public_key"] = public_key()
    elif name == "organizer":
        context["install"] = install_command()
    return render(request, "help/chapter.html", context)


@cache
def text_of(name: str) -> str:
    """Return the Markdown text of a chapter of the handbook."""
    return (TEXTS / f"{name}.md").read_text()


@require_safe
@cache_control(public=True, max_age=CACHE_SECONDS)
def schema(request: HttpRequest) -> HttpResponse:
    """Return the JSON Schema of challenge.yaml, which text editors can use to autocomplete and validate the file."""
    content = json.dumps(challenge_schema(), indent=2, ensure_ascii=False)
    return HttpResponse(content, content_type="application/schema+json; charset=utf-8")
