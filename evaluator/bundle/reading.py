"""Reads challenge.yaml and the Markdown files of a bundle, and reports all errors in these files."""

from pathlib import Path

import yaml

from evaluator.bundle.dates import report_dates
from evaluator.bundle.declared import Bundle
from evaluator.bundle.doubts import warn_of_quota, warn_of_unread
from evaluator.bundle.keys import CHALLENGE
from evaluator.bundle.limits import DEFAULTS, BundleLimits
from evaluator.bundle.mistakes import SHEET, Mistakes
from evaluator.bundle.phases import read_phases
from evaluator.bundle.section import Section

# The maximum size of challenge.yaml is small, because parsing 10 KiB takes about a second on a slow machine.
SHEET_MAX_BYTES = 64 * 2**10
TEXT_MAX_BYTES = 2**20
PAGES = ("description", "rules", "data")


def read(folder: Path, limits: BundleLimits = DEFAULTS) -> Bundle:
    """Read an unpacked bundle and return its content. Ground truths and submissions are not checked.

    Raises InvalidBundle with all errors if there are any.
    """
    mistakes = Mistakes()
    bundle = read_with_mistakes(folder, mistakes, limits)
    mistakes.stop_if_any()
    return bundle


def read_with_mistakes(folder: Path, mistakes: Mistakes, limits: BundleLimits = DEFAULTS) -> Bundle:
    """Read an unpacked bundle and return its content. Errors and warnings are added to `mistakes`.

    Invalid values are replaced by their defaults, so that the ground truths can still be checked. Raises InvalidBundle
    if challenge.yaml is missing, is too large, or is not valid YAML in UTF-8.
    """
    sheet = _compose_sheet(folder, mistakes)
    pages = {page: _read_text(folder / f"{page}.md", TEXT_MAX_BYTES, mistakes) for page in PAGES}
    bundle = _read_challenge(Section(sheet, CHALLENGE, mistakes), pages, folder, mistakes, limits)
    warn_of_unread(folder, bundle.phases, mistakes)
    for phase in bundle.phases:
        warn_of_quota(phase, mistakes)
    return bundle


def _where_to_put_it(folder: Path) -> str:
    """Return advice on where to put a missing challenge.yaml, which may have another name or be in a subfolder."""
    names = (SHEET, "challenge.yml")
    paths = [path for path in folder.rglob("*") if path.name.lower() in names]
    found = sorted(path.relative_to(folder).as_posix() for path in paths if path.is_file())
    if not found:
        return "put it in the top-level folder of the bundle"
    if "/" not in found[0]:
        return f"rename {found[0]}"
    return f"it must be in the top-level folder of the bundle, not at {found[0]}"


def read_parameters(text: str) -> dict[str, str | list[str]]:
    """Return the parameters of a track that a text contains, in the syntax of challenge.yaml.

    Values are strings or lists of strings, which the track parses. Raises InvalidBundle with all errors.
    """
    mistakes = Mistakes()
    node = _compose(text, mistakes)
    found = Section(node, (), mistakes, is_open=True).parameters() if node else {}
    mistakes.stop_if_any()
    return found


def _compose_sheet(folder: Path, mistakes: Mistakes) -> yaml.Node:
    """Parse challenge.yaml into YAML nodes with line numbers."""
    if not (folder / SHEET).is_file():
        mistakes.add("missing_file", f"there is no {SHEET}: {_where_to_put_it(folder)}")
    content = _read_text(folder / SHEET, SHEET_MAX_BYTES, mistakes)
    mistakes.stop_if_any()
    node = _compose(content, mistakes)
    if node is None:
        mistakes.add("missing_key", "is empty: slug, title and phases are required", line=1)
        raise mistakes.error()
    return node


def _compose(content: str, mistakes: Mistakes) -> yaml.Node | None:
    """Parse a text into YAML nodes with line numbers. No Python objects are created from YAML tags.

    Return None if the text is empty. Raises InvalidBundle if it is not valid YAML.
    """
    try:
        return yaml.compose(content, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # If a quote or bracket is not closed, report the line where it was opened.
        if mark and error.context_mark and mark.index >= len(content):
            mark = error.context_mark
        mistakes.add("bad_yaml", f"cannot be read: {error.problem or error.context}", line=mark.line + 1 if mark else 1)
    except yaml.reader.ReaderError as error:
        line = content.count("\n", 0, error.position) + 1
        mistakes.add("bad_yaml", "cannot be read: this line contains a character that YAML does not allow", line=line)
    except (yaml.YAMLError, RecursionError):
        mistakes.add("bad_yaml", "cannot be read: too many nested brackets")
    raise mistakes.error()


def _read_text(path: Path, most: int, mistakes: Mistakes) -> str:
    if not path.is_file():
        return ""
    if path.stat().st_size > most:
        mistakes.add("too_large", f"is larger than {most // 1024} KiB; shorten it", file=path.name)
        return ""
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        mistakes.add("encoding", "is not UTF-8 on this line; save the file as UTF-8", file=path.name, line=line)
        return ""
    # NUL characters in challenge.yaml are not reported here, because the YAML parser reports them.
    if "\0" in text and path.name != SHEET:
        line = text.count("\n", 0, text.index("\0")) + 1
        mistakes.add("encoding", "contains a NUL character on this line; remove it", file=path.name, line=line)
    if not text.strip() and path.name != SHEET:
        mistakes.warn("empty_page", "is empty, so the page is empty; write its text or remove the file", file=path.name)
    return text


def _read_challenge(
    section: Section, pages: dict[str, str], folder: Path, mistakes: Mistakes, limits: BundleLimits
) -> Bundle:
    opens_at, closes_at = section.take("opens_at"), section.take("closes_at")
    if opens_at and closes_at and closes_at <= opens_at:
        section.wrong("closes_at", "bad_dates", "is not after opens_at")
    phases = read_phases(section, folder, mistakes, limits)
    for phase in phases:
        report_dates(phase, start=opens_at, end=closes_at, mistakes=mistakes)
    teams = section.section("teams")
    join_until, merge_until = section.take("join_until"), teams.take("merge_until")
    for part, name, date in ((section, "join_until", join_until), (teams, "merge_until", merge_until)):
        if date and closes_at and date > closes_at:
            part.warn(name, "no_effect", "is after the challenge closes, so it has no effect")
    return Bundle(
        slug=section.take("slug"),
        title=section.take("title"),
        summary=section.take("summary"),
        visibility=section.take("visibility"),
        opens_at=opens_at,
        closes_at=closes_at,
        join_until=join_until,
        registration=section.take("registration"),
        allowed_domains=section.take("allow"),
        allowed_people=section.take("allow_people"),
        team_max_size=teams.take("max_size"),
        merge_until=merge_until,
        contact=_read_contact(section),
        phases=phases,
        closes_line=section.line("closes_at"),
        **pages,
    )


def _read_contact(section: Section) -> str:
    """Return the contact address of a challenge. Warn if it is missing or is neither an email address nor a URL."""
    contact: str = section.take("contact")
    if not section.has("contact"):
        message = "participants cannot ask the organizers questions; add an email address as `contact`"
        section.mistakes.warn("no_contact", message, key="contact")
    elif contact and "@" not in contact and "://" not in contact:
        section.warn("contact", "bad_contact", "is neither an email address nor a URL, so it is shown as plain text")
    return contact
