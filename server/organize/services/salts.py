"""The salt of a phase: it is created by the first import and used for all versions of the truth.

A phase's salt never changes. Another salt would move images between public and private, and scores on two splits of the
same images reveal more than scores on one. A phase that was imported before salts existed never gets one.
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
READ_BYTES = 64  # longer than a salt; the evaluator checks its format
UNSALTED = (
    "has no salt, because it was imported before salts existed: anybody who guesses the ground truth can confirm the "
    "guess, and intervals reveal the answers for single images. Import it under another slug to give it a salt"
)
SEEDED = {
    True: "split.seed is ignored, because the salt decides which images are public; remove it",
    False: "split.seed decides which images are public, and three scores are enough to find the seed",
}


def salted(bundle: Bundle) -> Bundle:
    """Return the bundle with a salt for every phase.

    An existing phase keeps its salt. A new phase gets the salt of its truth folder, or a random one. Raises
    InvalidBundle if the salt of a truth folder differs from that of its phase.
    """
    kept = dict(Phase.objects.filter(challenge__slug=bundle.slug).values_list("slug", "salt"))
    own = {phase.slug: own_salt(phase.truth) for phase in bundle.phases}
    refuse_other([(slug, own[slug], kept[slug]) for slug in own if slug in kept])
    phases = (replace(each, salt=kept.get(each.slug, own[each.slug] or new_salt())) for each in bundle.phases)
    return replace(bundle, phases=tuple(phases))


def refuse_other(phases: list[tuple[str, str, str]]) -> None:
    """Raise InvalidBundle if salts differ; `phases` holds (slug, salt of the truth folder, salt of the phase)."""
    problems = [
        Problem("truth_bad_value", message, line=1, file=f"phases/{slug}/truth/{salt.NAME}")
        for slug, own, kept in phases
        if (message := difference(own, kept))
    ]
    if problems:
        raise InvalidBundle(problems)


def new_salt() -> str:
    """Return the content of a new random `salt.txt`."""
    return f"{token_hex(16)}\n"


def own_salt(truth: Path) -> str:
    """Return the beginning of the `salt.txt` in a truth folder; empty if the folder has none."""
    path = next((path for name in NAMES if (path := truth / name).is_file()), None)
    if path is None:
        return ""
    with suppress(OSError, EOFError, zlib.error):  # the evaluator reports a damaged file
        with path.open("rb") as file:
            content = file.read(READ_BYTES)
        if content.startswith(GZIPPED):  # a gzipped file may have any name
            with gzip.open(path) as unpacked:
                content = unpacked.read(READ_BYTES)
        return str(content, "ascii", "replace")
    return ""


def difference(own: str, kept: str) -> str:
    """Return why the `salt.txt` of a truth folder is refused; empty if it is accepted."""
    if own in ("", kept):
        return ""
    if not kept:
        return (
            "this phase was imported without a salt and cannot get one; remove the file, or import under another slug"
        )
    return "is not the salt of this phase, which never changes; remove the file to use the stored salt"


def warn(bundle: Bundle, mistakes: Mistakes) -> None:
    """Warn about phases whose public and private images can be guessed."""
    for phase in bundle.phases:
        if not phase.salt:
            mistakes.warn("no_salt", f"phase {phase.slug} {UNSALTED}", line=phase.line)
        if phase.split_seeded:
            mistakes.warn("idle_seed" if phase.salt else "guessable_seed", SEEDED[bool(phase.salt)], line=phase.line)
