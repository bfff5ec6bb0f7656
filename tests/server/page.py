"""Parses the HTML of a page into its elements and visible text, for tests without a browser."""

from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "input", "br", "hr", "img", "wbr"}
Element = tuple[str, dict[str, str]]


class Page(HTMLParser):
    """The parsed HTML page in a response. `context` is the template context that Django used to render it."""

    def __init__(self, response: Any) -> None:
        super().__init__()
        self.status = response.status_code
        self.context: Any = getattr(response, "context", None)
        self.elements: list[Element] = []
        self.inline: list[str] = []
        self._words: list[str] = []
        self._open: list[str] = []
        self.feed(response.content.decode())
        self.words = " ".join(" ".join(self._words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("script", "style"):
            self.inline.append(data)
        elif "title" not in self._open:
            self._words.append(data)

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        """Return the attributes of all elements with the given tag and attributes. `class_` is a single CSS class."""
        word = attributes.pop("class_", None)
        return [
            found
            for name, found in self.elements
            if name == tag
            and (word is None or word in found.get("class", "").split())
            and all(found.get(key.replace("_", "-")) == value for key, value in attributes.items())
        ]

    def links(self) -> list[str]:
        return [found["href"] for found in self.all("a") if "href" in found]
