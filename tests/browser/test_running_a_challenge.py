"""An organizer runs a challenge in a browser without a bundle, corrects the ground truth, and undoes the correction."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from server.accounts.models import User
from server.challenges.gate import may_open
from server.challenges.models import Phase
from server.leaderboards.queries import board
from tests.browser.conftest import Open
from tests.conftest import PASSWORD, InlineQueue, Make
from tests.server.api.test_organizing import zipped

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket]

HEADER = "ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf\n"
CAT, DOG = "a,/m/cat,0.1,0.5,0.1,0.5,0\n", "b,/m/dog,0.2,0.6,0.2,0.6,0\n"
TRUTH = {
    "boxes.csv": f"{HEADER}{CAT}{DOG}{CAT.replace('a,', 'c,')}{DOG.replace('b,', 'd,')}",
    "image_labels.csv": "ImageID,LabelName,Confidence\na,/m/cat,1\nb,/m/dog,1\nc,/m/cat,1\nd,/m/dog,1\n",
    "usage.csv": "ImageID,Usage\na,Public\nb,Public\nc,Private\nd,Private\n",
}
WRONG = TRUTH | {"boxes.csv": TRUTH["boxes.csv"].replace("a,/m/cat,0.1,0.5,0.1,0.5", "a,/m/cat,0.6,0.9,0.6,0.9")}
PREDICTIONS = b"ImageId,PredictionString\na,/m/cat 0.9 0.1 0.1 0.5 0.5\nb,/m/dog 0.9 0.2 0.2 0.6 0.6\nc,\nd,\n"
SLOW_MS = 60_000  # The timeout is long, because a ground truth is prepared and checked in child processes.


@pytest.fixture
def organizer(make: Make) -> User:
    """Return a user who may create challenges, because the user already organizes one."""
    user = make.user(username="organizer")
    make.challenge(slug="demo-detection").organizers.add(user)
    return user


@pytest.fixture
def packed(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Return a function that writes the files of a ground truth to a zip file and returns its path."""

    def pack(files: dict[str, str]) -> Path:
        path = tmp_path / "truth.zip"
        path.write_bytes(zipped(files))
        return path

    return pack


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button, exact=True).click()


def create(page: Page, truth: Path) -> None:
    """Log in as an organizer, and create, describe and publish a challenge with one phase."""
    page.goto("/accounts/login?next=/organize/")
    page.get_by_label("Username").fill("organizer")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    press(page, "Log in")
    page.get_by_role("link", name="New challenge").click()
    page.get_by_label("Short name").fill("owls")
    page.get_by_label("Title").fill("Owls in flight")
    press(page, "Create challenge")
    page.get_by_role("link", name="Add a phase").click()
    page.get_by_label("Short name").fill("main")
    page.get_by_label("Track").select_option("openimages-detection")
    page.get_by_label("Ground truth as a zip file").set_input_files(truth)
    press(page, "Add phase")
    page.get_by_text("Its gate is green.").wait_for()
    assert may_open(Phase.objects.get())
    page.goto("/organize/challenges/owls/edit")
    page.get_by_label("Contact").fill("owls@example.org")
    page.get_by_label("Rules", exact=True).fill("# Be fair")
    press(page, "Save")
    page.goto("/organize/challenges/owls")
    press(page, "Publish the challenge")
    page.get_by_text("The challenge was published.").wait_for()


def take_part(page: Page) -> None:
    """Join the challenge on the website, and submit a file with predictions."""
    page.goto("/challenges/owls/rules")
    page.get_by_label("I have read the rules and accept them.").check()
    page.get_by_role("button", name="Join").click()
    page.goto("/challenges/owls/submit")
    file = {"name": "run.csv", "mimeType": "text/csv", "buffer": PREDICTIONS}
    page.locator("input[type=file]").set_input_files(file)
    page.locator("form button.button-main").first.click()
    page.locator("#result").get_by_role("link").first.wait_for()


def rescore(page: Page, queue: InlineQueue, version: int, reason: str) -> None:
    """Preview the scores with another version of the ground truth, then rescore all submissions with this version."""
    page.goto("/organize/challenges/owls/phases/main")
    press(page, f"Preview version {version}")
    page.get_by_role("button", name="Apply the rescoring").wait_for()
    queue.work_later()
    page.reload()
    page.get_by_label("Why").fill(reason)
    press(page, "Apply the rescoring")
    page.get_by_text(f"The leaderboards now show version {version}.").wait_for()


def public_score(viewer: User) -> float:
    (row,) = board(Phase.objects.get(), split="public", viewer=viewer).page(0, 5)
    return row.score


def test_a_challenge_is_run_from_the_first_form_to_a_corrected_truth_and_back(
    organizer: User, member: User, visit: Open, inline_queue: InlineQueue, packed: Callable[[dict[str, str]], Path]
) -> None:
    console, participant, public = visit().new_page(), visit(member).new_page(), visit().new_page()
    console.set_default_timeout(SLOW_MS)
    create(console, packed(WRONG))
    take_part(participant)
    inline_queue.work()
    assert public_score(member) == 0.5

    console.goto("/organize/challenges/owls/phases/main")
    console.get_by_label("Ground truth as a zip file").set_input_files(packed(TRUTH))
    press(console, "Add version")
    console.get_by_text("Version 2 was added.").wait_for()
    assert public_score(member) == 0.5
    rescore(console, inline_queue, 2, "The cat was in another corner.")
    assert public_score(member) == 1.0
    public.goto("/challenges/owls/changes")
    public.get_by_text("The cat was in another corner.").wait_for()

    rescore(console, inline_queue, 1, "The first version was right.")
    assert public_score(member) == 0.5
    public.reload()
    public.get_by_text("The first version was right.").wait_for()
