"""The page of a scored submission polls for updates until the confidence interval is available."""

from django.test import Client

from server.submissions.models import Score, Submission
from tests.conftest import Make
from tests.server.conftest import Scored, refresh_boards
from tests.server.page import Page


def test_the_page_asks_for_updates_until_the_interval_is_available(make: Make, scored: Scored, client: Client) -> None:
    submission = scored(make.phase(), 0.5, stage="bootstrapping")
    client.force_login(submission.user)
    page = Page(client.get(f"/submissions/{submission.pk}/"))
    assert "seen=scored-bootstrapping" in page.all("div", id="panel")[0]["hx-get"]
    assert client.get(f"/submissions/{submission.pk}/panel?seen=scored-bootstrapping").status_code == 204
    Submission.objects.update(stage="")
    Score.objects.update(low=0.4512, high=0.5512)
    refresh_boards()
    panel = Page(client.get(f"/submissions/{submission.pk}/panel?seen=scored-bootstrapping"))
    assert "95%: 0.451 to 0.552" in panel.words
    assert "hx-get" not in panel.all("div", id="panel")[0]


def test_updates_keep_the_order_of_the_classes(make: Make, scored: Scored, client: Client) -> None:
    row = {"label": "/m/1", "name": "Cat", "ap": 0.5, "truths": 1.0}
    report = {"splits": {"public": {"classes": [row]}}}
    submission = scored(make.phase(feedback_classes=True), 0.5, stage="bootstrapping", report=report)
    client.force_login(submission.user)
    page = Page(client.get(f"/submissions/{submission.pk}/report/classes?sort=-truths"))
    assert "sort=-truths" in page.all("div", id="panel")[0]["hx-get"]
