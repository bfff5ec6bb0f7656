"""Writes check kits, with which participants can check their submissions on their own machines."""

import logging
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from celery import shared_task
from django.conf import settings

from evaluator import scoring
from evaluator.problems import DamagedTruth, InvalidParameters, InvalidTruth
from evaluator.request import TruthOptions
from server.challenges.models import Truth
from server.organize.services import kits
from server.organize.services.kits import MAKE_KIT
from server.organize.services.truths import Unrestorable
from server.stored_files.failures import StoreUnavailable
from server.submissions.limits import file_limits
from worker import storage_check
from worker.truth_cache import local_truth
from worker.truths import with_usable_truth

log = logging.getLogger(__name__)


@shared_task(name=MAKE_KIT)
def make_kit(truth_id: int) -> None:
    """Write the check kit (a file for checking submissions offline) of a ground truth, unless it is up to date.

    If the file storage is missing, nothing is written, and the sweeper (a periodic task) queues the ground truth again.
    If the ground truth cannot be used, the database records that it has no check kit. In this case, and after a check
    kit has been written, a worker is woken to write the next check kit.
    """
    truth = Truth.objects.select_related("phase").filter(pk=truth_id).first()
    if truth is None or not storage_check.can_work() or not kits.is_outdated(truth):
        return
    made_with = kits.kit_settings(truth.phase)
    with TemporaryDirectory(prefix="kit-", dir=settings.FILE_UPLOAD_TEMP_DIR) as workspace:
        made: Path | None = Path(workspace) / kits.NAME
        try:
            with_usable_truth(truth, partial(write, truth, Path(workspace) / kits.NAME))
        except (InvalidTruth, InvalidParameters, DamagedTruth, Unrestorable) as error:
            log.error("alarm: no check kit could be made for %s: %s", truth, type(error).__name__)
            made = None
        except StoreUnavailable as error:
            log.error("alarm: no check kit could be made for %s: %s", truth, error.strerror)
            return
        kits.store(truth, made, made_with)
    kits.wake()


def write(truth: Truth, out: Path) -> None:
    phase, limits = truth.phase, file_limits()
    opening = TruthOptions(verify=True, expected=truth.sha256)
    with local_truth(truth) as prepared:
        scoring.write_kit(phase.track, prepared, out, parameters=phase.parameters, limits=limits, opening=opening)
