"""Finds characters that are invisible or change the direction of text, in names, messages and pages."""

import re

# Default_Ignorable_Code_Point (DerivedCoreProperties.txt of Unicode), which Python's unicodedata does not have:
# joiners, direction marks, fillers, variation selectors, tags. It also has unassigned code points, so it is stable.
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Control characters except tab and line ends, line separators, and format characters and blanks of annotations and
# hieroglyphs.
CONTROLS = "\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\U00013430-\U00013442"
# Letters and symbols that are displayed as blanks.
BLANK = "\u2800\ufffc\U00016fe4\U0001d159"
# After one of these symbols U+FE0F is allowed: keyboards insert it to show the symbol as an emoji.
SYMBOLS = "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u27bf\u2900-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
HIDDEN = re.compile(f"[{IGNORABLE}{CONTROLS}{BLANK}](?<![{SYMBOLS}]\ufe0f)")


def is_plain(text: str) -> bool:
    r"""Return whether a text has only visible characters and no line break.

    >>> is_plain("Owls"), is_plain("Owls\ufe0f"), is_plain("Owls \u2764\ufe0f")
    (True, False, True)
    """
    return text.isprintable() and not HIDDEN.search(text)


def reveal(text: str) -> str:
    r"""Return a text, which may have several lines, with every hidden character escaped.

    >>> reveal("caf\u00e9\t\u202egnp.exe")
    'café\t\\u202egnp.exe'
    """
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
