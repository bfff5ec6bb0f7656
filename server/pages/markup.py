"""Organizers' Markdown made safe: HTML is off, the result is sanitized, headings go below the page's own."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6"),
}
DEEPEST = 6
SHIFT = 2

reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def render(text: str) -> SafeString:
    """Return HTML that may stand in a page.

    >>> str(render("# Goal"))
    '<h3>Goal</h3>\\n'
    >>> str(render("<script>alert(1)</script>"))
    '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\\n'
    """
    tokens = reader.parse(text)
    for token in tokens:
        shift_heading(token)
    html = reader.renderer.render(tokens, reader.options, {})
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
    return mark_safe(clean)


def shift_heading(token: Token) -> None:
    """Lower a heading by two levels: the page has the first, its sections the second."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(DEEPEST, int(token.tag[1:]) + SHIFT)}"
