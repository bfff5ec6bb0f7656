"""The salt of a phase: made with its first import, kept for all versions of its truth, and added where it is missing.

A phase's salt never changes. Another salt would move images between public and private, and two splits of the same
images tell participants more than one. A phase without a salt, from before there were salts, stays without.
"""

import gzip
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

from evaluator import salt
from evaluator.problems import Problem
from server.challenges.models import Phase
from server.organize.services.bundles import Bundle, InvalidBundle
from server.organize.services.bundles.mistakes import Mistakes

NAMES = (salt.NAME, f"{salt.NAME}.gz")
GZIPPED = b"\x1f\x8b"
READ_BYTES = 64  # more than a salt has; what it must be is the evaluator's to check
UNSALTED = (
    "has no salt, because it was imported before salts were introduced: anybody who guesses the truth can confirm the "
    "guess, and intervals reveal single answers. Import it under another slug to give it a salt"
)
SEEDED = {
    True: "split.seed is not read, because the salt decides which images are public; remove it",
    False: "split.seed decides which images are public, and three scores are enough to find the seed",
}


def salted(bundle: Bundle) -> Bundle:
    """Give every phase its salt: the kept one, or for a new phase that of its truth folder, or a random one.

    Raises InvalidBundle where a truth folder has another salt than its phase.
    """
    kept = dict(Phase.objects.filter(challenge__slug=bundle.slug).values_list("slug", "salt"))
    own = {phase.slug: own_salt(phase.truth) for phase in bundle.phases}
    refuse_other([(slug, own[slug], kept[slug]) for slug in own if slug in kept])
    phases = (replace(each, salt=kept.get(each.slug, own[each.slug] or new_salt())) for each in bundle.phases)
    return replace(bundle, phases=tuple(phases))


def refuse_other(phases: list[tuple[str, str, str]]) -> None:
    """Raise InvalidBundle where of (slug, salt of a truth folder, salt of the phase) the salts differ."""
    problems = [
        Problem("truth_bad_value", message, line=1, file=f"phases/{slug}/truth/{salt.NAME}")
        for slug, own, kept in phases
        if (message := difference(own, kept))
    ]
    if problems:
        raise InvalidBundle(problems)


def new_salt() -> str:
    """Return a random `salt.txt`."""
    return f"{token_hex(16)}\n"


def own_salt(truth: Path) -> str:
    """Return the beginning of a truth folder's `salt.txt`, empty where it has none."""
    path = next((path for name in NAMES if (path := truth / name).is_file()), None)
    if path is None:
        return ""
    with suppress(OSError, EOFError, zlib.error):  # a damaged file is the evaluator's to find
        with path.open("rb") as file:
            content = file.read(READ_BYTES)
        if content.startswith(GZIPPED):  # whatever its name
            with gzip.open(path) as unpacked:
                content = unpacked.read(READ_BYTES)
        return str(content, "ascii", "replace")
    return ""


def difference(own: str, kept: str) -> str:
    """Say why a truth folder's `salt.txt` is refused; empty where it is not."""
    if own in ("", kept):
        return ""
    if not kept:
        return "this phase was imported without a salt and stays so; remove the file, or import it under another slug"
    return "is not the salt of this phase, which never changes; remove the file, and the kept salt is used"


def warn(bundle: Bundle, mistakes: Mistakes) -> None:
    """Note what weakens the secrecy of the phases' splits."""
    for phase in bundle.phases:
        if not phase.salt:
            mistakes.warn("no_salt", f"phase {phase.slug} {UNSALTED}", line=phase.line)
        if phase.split_seeded:
            mistakes.warn("idle_seed" if phase.salt else "guessable_seed", SEEDED[bool(phase.salt)], line=phase.line)
