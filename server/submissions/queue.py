"""The queue is a name and an id. The database remembers what is to be done; a message only wakes a worker."""

import logging
from uuid import UUID

from celery import current_app
from kombu.exceptions import OperationalError

EVALUATE = "worker.evaluate"

log = logging.getLogger(__name__)


def enqueue(submission_id: UUID) -> None:
    """Wake a worker. A broker that is down is no reason to refuse an upload: the sweeper sends again."""
    try:
        current_app.send_task(EVALUATE, args=[str(submission_id)], retry=False)
    except OperationalError as error:
        log.warning("submission %s was not announced, the sweeper will: %s", submission_id, error)
