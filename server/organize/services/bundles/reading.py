"""Reads challenge.yaml and the Markdown texts next to it into a Bundle, or lists all mistakes in them."""

from pathlib import Path

import yaml

from server.challenges.validation import INTEGER_RANGES
from server.organize.services.bundles.dates import report_dates
from server.organize.services.bundles.declared import Bundle
from server.organize.services.bundles.mistakes import SHEET, Mistakes
from server.organize.services.bundles.phases import read_phases
from server.organize.services.bundles.section import Section
from server.organize.services.bundles.values import domains, integer, moment, one_of, slug, text

SHEET_MAX_BYTES = 256 * 2**10
TEXT_MAX_BYTES = 2**20
PAGES = ("description", "rules", "data")


def read(folder: Path, mistakes: Mistakes | None = None) -> Bundle:
    """Read an unpacked bundle. Warnings are added to `mistakes`.

    Raises InvalidBundle with every mistake in challenge.yaml and in the files that it names. The content of the truth
    is checked later, when the evaluator prepares it.
    """
    mistakes = mistakes or Mistakes()
    sheet = _compose(folder, mistakes)
    pages = {page: _read_text(folder / f"{page}.md", TEXT_MAX_BYTES, mistakes) for page in PAGES}
    with Section(sheet, mistakes) as section:
        bundle = _read_challenge(section, pages, folder, mistakes)
    mistakes.stop_if_any()
    return bundle


def _compose(folder: Path, mistakes: Mistakes) -> yaml.Node:
    """Parse challenge.yaml into nodes with line numbers. YAML tags never create objects."""
    if not (folder / SHEET).is_file():
        mistakes.add("missing_file", f"there is no {SHEET}: put it at the top of the bundle")
    content = _read_text(folder / SHEET, SHEET_MAX_BYTES, mistakes)
    mistakes.stop_if_any()
    try:
        node = yaml.compose(content, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        mistakes.add("bad_yaml", f"cannot be read: {error.problem or error.context}", line=mark.line + 1 if mark else 1)
    except (yaml.YAMLError, RecursionError):
        mistakes.add("bad_yaml", "cannot be read: a character that YAML does not allow, or too many nested brackets")
    else:
        if node is not None:
            return node
        mistakes.add("missing_key", "is empty: slug, title and phases are required", line=1)
    raise mistakes.error()


def _read_text(path: Path, most: int, mistakes: Mistakes) -> str:
    if not path.is_file():
        return ""
    if path.stat().st_size > most:
        mistakes.add("too_large", f"is larger than {most // 1024} KiB; shorten it", file=path.name)
        return ""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        mistakes.add("encoding", "is not UTF-8 in this line; save it as UTF-8", file=path.name, line=line)
        return ""


def _read_challenge(section: Section, pages: dict[str, str], folder: Path, mistakes: Mistakes) -> Bundle:
    opens_at = section.take("opens_at", moment, None)
    closes_at = section.take("closes_at", moment, None)
    if opens_at and closes_at and closes_at <= opens_at:
        section.wrong("closes_at", "bad_dates", "is not after opens_at")
    phases = read_phases(section, folder, mistakes)
    for phase in phases:
        report_dates(phase, opens_at=opens_at, closes_at=closes_at, mistakes=mistakes)
    with section.section("teams") as teams:
        team_max_size = teams.take("max_size", integer(*INTEGER_RANGES["team_max_size"]), 5)
        merge_until = teams.take("merge_until", moment, None)
    return Bundle(
        slug=section.need("slug", slug, ""),
        title=section.need("title", text(120), ""),
        summary=section.take("summary", text(240), ""),
        visibility=section.take("visibility", one_of("public", "unlisted", "private"), "public"),
        opens_at=opens_at,
        closes_at=closes_at,
        join_until=section.take("join_until", moment, None),
        registration=section.take("registration", one_of("open", "approval"), "open"),
        allowed_domains=section.take("allow", domains, ""),
        team_max_size=team_max_size,
        merge_until=merge_until,
        phases=phases,
        closes_line=section.line("closes_at"),
        **pages,
    )
