"""The queue is a name and an id, and may be down."""

from uuid import UUID

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from server.submissions import queue
from worker import tasks

SUBMISSION = UUID(int=7)


def test_name_on_the_queue_is_a_task_of_the_worker():
    assert current_app.tasks[queue.EVALUATE].name == tasks.evaluate.name == queue.EVALUATE


def test_message_is_the_id_as_text(monkeypatch):
    sent = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, retry: sent.append((name, args, retry)))
    queue.enqueue(SUBMISSION)
    assert sent == [("worker.evaluate", [str(SUBMISSION)], False)]


def test_broker_that_is_down_is_logged_and_not_raised(monkeypatch, caplog):
    def refuse(*arguments: object, **options: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(current_app, "send_task", refuse)
    queue.enqueue(SUBMISSION)
    assert [line.levelname for line in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("url", ["unix:///nowhere/redis.sock", ""])
def test_broker_that_is_down_has_no_count(settings, url):
    settings.REDIS_URL = url
    assert queue.waiting() is None
