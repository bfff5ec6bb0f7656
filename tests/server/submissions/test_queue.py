"""Messages to workers contain only a task name and an id. Sending never raises an error, even without a broker."""

from uuid import UUID

import pytest
from celery import current_app
from kombu.exceptions import ContentDisallowed, OperationalError
from kombu.serialization import dumps, loads, prepare_accept_content
from pytest_django import Settings

from server.submissions import queue
from server.submissions.models import Rerun, Submission
from worker import tasks

SUBMISSION = UUID(int=7)


@pytest.mark.parametrize(("name", "task"), [(queue.EVALUATE, tasks.evaluate), (queue.RERUN, tasks.rerun)])
def test_the_message_names_a_task_of_the_worker(name, task) -> None:
    assert current_app.tasks[name].name == task.name == name


def test_a_message_contains_the_id_and_a_rerun_has_the_lower_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    monkeypatch.setattr(current_app, "send_task", lambda name, **options: sent.append((name, options)))
    queue.enqueue(Submission, SUBMISSION)
    queue.enqueue(Rerun, 7)
    assert sent == [
        ("worker.evaluate", {"args": [str(SUBMISSION)], "queue": "celery", "priority": 0, "retry": False}),
        ("worker.rerun", {"args": [7], "queue": "reruns", "priority": 9, "retry": False}),
    ]


def test_only_messages_in_json_are_accepted() -> None:
    assert current_app.conf.accept_content == ["json"]
    assert current_app.conf.task_serializer == "json"
    content_type, encoding, pickled = dumps({"id": str(SUBMISSION)}, serializer="pickle")
    with pytest.raises(ContentDisallowed):
        loads(pickled, content_type, encoding, accept=prepare_accept_content(current_app.conf.accept_content))


def test_an_unreachable_broker_is_logged_and_raises_no_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(current_app, "send_task", refuse)
    queue.enqueue(Submission, SUBMISSION)
    assert [line.levelname for line in caplog.records] == ["WARNING"]


@pytest.mark.parametrize("url", ["unix:///nowhere/redis.sock", ""])
def test_the_number_of_messages_is_unknown_while_the_broker_is_down(settings: Settings, url) -> None:
    settings.REDIS_URL = url
    assert queue.waiting(Submission) is None
