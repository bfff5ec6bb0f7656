"""Converts the organizers' Markdown to safe HTML: raw HTML is escaped and the result is sanitized."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6"),
}
LOWEST_HEADING = 6
HEADING_SHIFT = 2

parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def render_markdown(text: str) -> SafeString:
    """Return the HTML of a text.

    >>> str(render_markdown("# Goal"))
    '<h3>Goal</h3>\\n'
    >>> str(render_markdown("<script>alert(1)</script>"))
    '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\\n'
    """
    tokens = parser.parse(text)
    for token in tokens:
        shift_heading(token)
    html = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
    return mark_safe(clean)


def shift_heading(token: Token) -> None:
    """Lower a heading by two levels, because level 1 is the title of the page and level 2 its sections."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(LOWEST_HEADING, int(token.tag[1:]) + HEADING_SHIFT)}"
