"""Converts the organizers' Markdown to safe HTML: raw HTML is escaped and the result is sanitized."""

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "a", "ul", "ol", "li"),
    *("table", "thead", "tbody", "tr", "th", "td", "h2", "h3", "h4", "h5", "h6"),
}
# Wide code blocks and tables scroll horizontally. They must be focusable, so that people can scroll them with the
# keyboard.
SCROLLS = {name: {"tabindex": "0"} for name in ("pre", "table")}
LOWEST_HEADING = 6
HEADINGS = ("heading_open", "heading_close")

parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def render_markdown(text: str, top: int = 2) -> SafeString:
    """Convert Markdown to sanitized HTML. The highest headings get the level `top`, and no heading level is skipped.

    >>> str(render_markdown("## Goal"))
    '<h2>Goal</h2>\\n'
    >>> str(render_markdown("<script>alert(1)</script>"))
    '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\\n'
    """
    tokens = parser.parse(text)
    shift_headings([token for token in tokens if token.type in HEADINGS], top)
    html = parser.renderer.render(tokens, parser.options, {})
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        set_tag_attribute_values=SCROLLS,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener noreferrer",
    )
    return mark_safe(clean)


def shift_headings(tokens: list[Token], top: int) -> None:
    """Change the levels of all headings so that they start at `top` and have no gaps.

    This is necessary because organizers cannot know which heading levels the surrounding page uses.
    """
    written = sorted({token.tag for token in tokens})
    for token in tokens:
        token.tag = f"h{min(LOWEST_HEADING, top + written.index(token.tag))}"
