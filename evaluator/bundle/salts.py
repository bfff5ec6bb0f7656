"""Determines the salt of each phase in a bundle. It is read from the ground truth folder or generated at random.

The salt is a secret from which the public split and the bootstrap draws are derived.
"""

import gzip
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from evaluator import salt
from evaluator.bundle.declared import Bundle
from evaluator.bundle.mistakes import Mistakes

NAMES = (salt.NAME, f"{salt.NAME}.gz")
GZIPPED = b"\x1f\x8b"
# Maximum number of bytes to read from `salt.txt`. A valid salt is shorter, so the evaluator can still detect a salt
# that is too long.
READ_BYTES = 64
UNSALTED = (
    "has no salt, because it was imported by an early version of Podium: anyone who guesses the ground truth can "
    "confirm the guess, and intervals reveal the answers for individual images. Import it under another slug to "
    "give it a salt"
)
SEEDED = {
    True: "split.seed is ignored, because the salt decides which images are public; remove it",
    False: "split.seed decides which images are public, and three scores are enough to determine the seed",
}


def with_salts(bundle: Bundle, kept: Mapping[str, str]) -> Bundle:
    """Return a copy of the bundle in which every phase has a salt, a secret that determines its public split.

    `kept` maps the slugs of existing phases to their salts, which may be empty. Any other phase gets the salt in its
    ground truth folder or, if there is none, a random salt.
    """
    phases = (replace(each, salt=kept.get(each.slug, own_salt(each.truth) or new_salt())) for each in bundle.phases)
    return replace(bundle, phases=tuple(phases))


def with_example_salts(bundle: Bundle) -> Bundle:
    """Return a copy of the bundle in which every phase has a salt, for checking the bundle without importing it.

    The salt of a phase determines which images are public. A phase without a salt in its ground truth folder gets a
    salt that depends only on its slug, so that repeated checks of a bundle give the same result. These salts are not
    secret and must not be stored.
    """
    return with_salts(bundle, {each.slug: own_salt(each.truth) or example_salt(each.slug) for each in bundle.phases})


def example_salt(slug: str) -> str:
    """Return an example of a `salt.txt`, computed from the slug of a phase. Unlike real salts, it is not secret."""
    return f"{sha256(slug.encode()).hexdigest()[:32]}\n"


def new_salt() -> str:
    """Return the content of a new `salt.txt`, a random secret that determines the split and the bootstrap draws."""
    return f"{token_hex(16)}\n"


def own_salt(truth: Path) -> str:
    """Return the content of the `salt.txt` in a ground truth folder, truncated to :data:`READ_BYTES` bytes.

    The file contains a secret that determines which images are public. The result is an empty string if the file is
    missing or cannot be read.
    """
    path = next((path for name in NAMES if (path := truth / name).is_file()), None)
    if path is None:
        return ""
    # A damaged `salt.txt` is ignored here, because `podium prepare` reports it.
    with suppress(OSError, EOFError, zlib.error):
        with path.open("rb") as file:
            content = file.read(READ_BYTES)
        if content.startswith(GZIPPED):  # `salt.txt` may be gzipped even without the suffix `.gz`.
            with gzip.open(path) as unpacked:
                content = unpacked.read(READ_BYTES)
        return str(content, "ascii", "replace")
    return ""


def report_salts(bundle: Bundle, mistakes: Mistakes) -> None:
    """Warn about phases without a salt, and about seeds of the random split that are ignored or can be guessed.

    The salt is a secret that determines which images are public. With a salt, the seed is ignored. Without a
    salt, the seed determines which images are public, and participants can guess the seed.
    """
    for phase in bundle.phases:
        if not phase.salt:
            mistakes.warn("no_salt", f"phase {phase.slug} {UNSALTED}", line=phase.line, key=phase.key)
        if phase.split_seeded:
            mistakes.warn(
                "idle_seed" if phase.salt else "guessable_seed",
                SEEDED[bool(phase.salt)],
                line=phase.line,
                key=phase.key,
            )
