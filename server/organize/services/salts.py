"""Chooses the salt of a phase: a secret from which the split into public and private images is computed.

The first import sets the salt, and all versions of the ground truth use it.

A phase's salt never changes. A different salt would move images between the public and the private split, and scores on
two different splits of the same images reveal more than scores on one. A phase that was imported before salts were
introduced never gets one.
"""

from evaluator import salt
from evaluator.bundle import Bundle, InvalidBundle, Mistakes
from evaluator.bundle.salts import own_salt, with_salts
from evaluator.problems import Problem
from server.challenges.models import Phase


def salted(bundle: Bundle, mistakes: Mistakes) -> Bundle:
    """Return the bundle with the salt (a secret that determines the split) of each phase.

    An existing phase keeps its salt, or remains without one. A new phase gets the salt in its truth folder (the
    bundle's folder with the phase's ground truth), or a random one. If the salt in a truth folder differs from that of
    an existing phase, this is reported as an error.
    """
    kept = dict(Phase.objects.filter(challenge__slug=bundle.slug).values_list("slug", "salt"))
    own = {phase.slug: own_salt(phase.truth) for phase in bundle.phases if phase.slug in kept}
    mistakes.extend(other_salts([(slug, own[slug], kept[slug]) for slug in own]))
    return with_salts(bundle, kept)


def refuse_other(phases: list[tuple[str, str, str]]) -> None:
    """Raise InvalidBundle if a phase's salt differs from the one in its ground truth's folder; see `other_salts`.

    The salt is a secret that determines which images are public.
    """
    if problems := other_salts(phases):
        raise InvalidBundle(problems)


def other_salts(phases: list[tuple[str, str, str]]) -> list[Problem]:
    """Return an error for each phase whose salt differs from the one in the folder with its ground truth.

    The salt is a secret that determines which images are public. A folder without a salt is accepted.

    `phases` contains tuples (slug, salt of the folder, salt of the phase).
    """
    return [
        Problem("truth_bad_value", message, line=1, file=f"phases/{slug}/truth/{salt.NAME}")
        for slug, own, kept in phases
        if (message := difference(own, kept))
    ]


def difference(own: str, kept: str) -> str:
    """Return why the `salt.txt` in a ground truth's folder is rejected, or an empty string if it is accepted.

    The salt is a secret that determines which images are public.
    """
    if own in ("", kept):
        return ""
    if not kept:
        return (
            "this phase was imported without a salt and cannot get one; remove the file, or import under another slug"
        )
    return "is not the salt of this phase, which never changes; remove the file to use the stored salt"
