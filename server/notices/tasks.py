"""The Celery task that sends emails. It runs in its own process, so that a slow mail server does not delay scoring."""

import logging

from celery import shared_task

from server.notices.services import mails

log = logging.getLogger(__name__)


@shared_task(name=mails.DELIVER)
def deliver() -> None:
    """Send the emails that are due. If the mail server does not respond, this task is queued again later."""
    try:
        sent = mails.deliver_due()
    except OSError as error:
        log.warning("the mail server does not respond: %s", type(error).__name__)
    else:
        log.info("sent %d emails", sent)
