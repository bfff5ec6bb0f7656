"""Creates check kits: files that let participants find every defect in a submission before they submit it.

An import creates the kit together with the ground truth. If a ground truth has no kit, or if the settings in its kit
have changed, the sweeper (a periodic task) wakes a worker to create a new kit.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.dispatch import receiver

from evaluator import __version__
from evaluator.problems import InvalidParameters
from server.challenges.models import Phase, Truth
from server.organize.services.new_files import NewFiles
from server.submissions import queue
from server.submissions.limits import file_limits
from server.submissions.queue import QUEUES, Queue
from server.submissions.signals import swept

MAKE_KIT = "worker.make_kit"
QUEUES[Truth] = Queue(MAKE_KIT, 3, settings.BROKER_QUEUES["kits"])
NAME = "kit.json"
# Version of the check kit, a file for checking submissions locally. The version is incremented when the same ground
# truth and settings produce a different check kit. Since version 2, the labels are sorted.
REVISION = 2


def kit_settings(phase: Phase) -> dict[str, Any]:
    """Return the settings of a phase's check kit (a file for checking submissions offline) as JSON data.

    A kit also contains the ids and labels of the ground truth.
    """
    resolved = phase.declared_track.resolve(phase.parameters)
    parameters = {name: list(value) if isinstance(value, tuple) else value for name, value in resolved.items()}
    made = {"evaluator": __version__, "revision": REVISION}
    return {**made, "parameters": parameters, "limits": asdict(file_limits())}


def limit_options() -> list[str]:
    """Return the server's limits for submitted files as command-line options of `podium`."""
    return [word for name, value in asdict(file_limits()).items() for word in ("--limit", f"{name}={value}")]


def is_outdated(truth: Truth) -> bool:
    """Return whether a ground truth has no check kit (a file for checking submissions offline) or an outdated one.

    A phase whose parameters this version no longer accepts keeps its kit.
    """
    try:
        return bool(truth.kit_made_with != kit_settings(truth.phase))
    except InvalidParameters:
        return False


@receiver(swept)
def wake(**signal: Any) -> None:
    """Queue a message to a worker to create a check kit, if an active ground truth needs one.

    Nothing is queued if such a message is waiting already. A check kit is a file for checking submissions offline.
    """
    active = Truth.objects.filter(active=True).select_related("phase").order_by("pk")
    outdated = next(filter(is_outdated, active), None)
    if outdated is not None and queue.waiting(Truth) == 0:
        queue.enqueue(Truth, outdated.pk)


@transaction.atomic
def store(truth: Truth, made: Path | None, made_with: dict[str, Any]) -> None:
    """Store the file `made` as the check kit of a ground truth. `made_with` contains the settings of the kit.

    A check kit is a file for checking submissions offline. If `made` is None, record that no kit can be made with these
    settings.
    """
    locked = Truth.objects.select_for_update(no_key=True).get(pk=truth.pk)
    old = str(locked.kit.name)
    locked.kit_made_with = made_with
    with NewFiles() as files:
        if made is not None:
            files.store(locked.kit, made, name=NAME)
            if old:
                transaction.on_commit(lambda: locked.kit.storage.delete(old))
        locked.save(update_fields=["kit", "kit_made_with"])
