"""Only organizers see the statistics of a ground truth, which are stored when the ground truth is prepared."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from server.accounts.models import User
from server.challenges.models import Phase
from server.organize.models import TruthStatistics
from server.organize.services import statistics
from server.pages.formatting.truth_charts import bars, rank_chart
from tests.server.api.test_organizing import TRUTH, zipped
from tests.server.page import Page

pytestmark = [pytest.mark.phase(challenge={"slug": "c"}, slug="main"), pytest.mark.usefixtures("inline_queue")]
PATH = "/organize/challenges/c/phases/main"


@pytest.fixture
def added(phase: Phase, member: User, client: Client) -> Phase:
    """Make the user `member` an organizer, and upload a second version of the ground truth. Return the phase."""
    phase.challenge.organizers.add(member)
    client.post(f"{PATH}/truth", {"file": SimpleUploadedFile("t.zip", zipped(TRUTH))})
    return phase


def test_the_statistics_of_an_added_version_are_shown(added: Phase, client: Client) -> None:
    page = Page(client.get(f"{PATH}/truths/2"))
    assert page.status == 200
    assert "Ceiling" in page.words
    assert "Boxes per image" in page.words
    assert statistics.of(added.truths.get(version=2))["counts"][0]["title"] == "Images"


def test_the_page_explains_why_a_version_has_no_statistics(added: Phase, client: Client) -> None:
    page = Page(client.get(f"{PATH}/truths/1"))
    assert (page.status, "This version has no statistics yet" in page.words) == (200, True)


def test_a_truth_of_an_earlier_version_gets_statistics_when_it_is_added_again(added: Phase, client: Client) -> None:
    TruthStatistics.objects.all().delete()
    client.post(f"{PATH}/truth", {"file": SimpleUploadedFile("t.zip", zipped(TRUTH))})
    assert [one.truth.version for one in TruthStatistics.objects.all()] == [2]


def test_a_version_that_does_not_exist_is_not_found(added: Phase, client: Client) -> None:
    assert client.get(f"{PATH}/truths/9").status_code == 404


def test_participants_see_the_sha256_of_the_truth_but_not_its_statistics(added: Phase, client: Client) -> None:
    assert Client().get(f"{PATH}/truths/2").status_code == 302
    truth = added.truths.get(active=True)
    assert truth.sha256 in Page(Client().get("/challenges/c/data")).words


def test_bars_are_shares_of_their_half() -> None:
    values = {"all": [3, 2], "public": [1, 0], "private": [2, 2]}
    drawn = bars({"title": "t", "items": "images", "bins": ["0", "1"], "values": values})
    heights = {(bar.title.partition(":")[0], bar.split): bar.height for bar in drawn.bars}
    assert heights["0", "public"] == 2 * heights["0", "private"] == 2 * heights["1", "private"]
    assert heights["1", "public"] == 0


def test_a_ranking_without_objects_has_no_chart() -> None:
    assert rank_chart({"all": [], "public": [], "private": []}) is None


def test_a_half_without_objects_has_no_line() -> None:
    chart = rank_chart({"all": [[1, 5]], "public": [], "private": [[1, 5]]})
    assert chart is not None
    assert [line.split for line in chart.lines] == ["private"]
