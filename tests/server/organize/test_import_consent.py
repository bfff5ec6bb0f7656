"""An import ends a phase, reveals scores or undoes an edit only if the organizer consents."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from evaluator.bundle import InvalidBundle
from server.audit import services as audit
from server.challenges.models import Challenge, Phase
from server.organize.services.consent import Consent
from tests.conftest import Make
from tests.server.organize.conftest import SHEET, BundleFolder

pytestmark = pytest.mark.usefixtures("make", "quick_podium", "inline_queue")

Import = Callable[..., list[str]]
OPENED = datetime(2020, 1, 1, tzinfo=UTC)
NOW = datetime.now(UTC).replace(microsecond=0)
YESTERDAY, LATER = NOW - timedelta(days=1), NOW + timedelta(days=7)


def written(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


@pytest.fixture
def running(bundle: BundleFolder, run: Import) -> Challenge:
    """Import a challenge that has opened and has no closing date."""
    bundle.sheet(challenge=f"opens_at: {written(OPENED)}\n")
    run()
    return Challenge.objects.get()


def mistakes(run: Import, **more: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidBundle) as caught:
        run(**more)
    return [(problem.code, problem.message) for problem in caught.value.problems]


PLACES = [
    lambda at: {"challenge": f"opens_at: {written(OPENED)}\ncloses_at: {written(at)}\n"},
    lambda at: {"challenge": f"opens_at: {written(OPENED)}\n", "phase": f"    closes_at: {written(at)}\n"},
]


@pytest.mark.parametrize("place", PLACES)
def test_a_closing_time_in_the_past_of_a_running_phase_is_refused_with_the_difference(
    bundle: BundleFolder, running: Challenge, run: Import, place: Any
) -> None:
    bundle.sheet(**place(YESTERDAY))
    ((code, message),) = mistakes(run)
    assert code == "would_reveal"
    assert "phase main would end immediately, and everyone could read its private scores" in message
    assert f"it would close at {written(YESTERDAY)} instead of no date" in message
    assert Phase.objects.get().closing is None


@pytest.mark.parametrize("place", PLACES)
def test_with_the_reveal_option_a_phase_closes_at_once(
    bundle: BundleFolder, running: Challenge, run: Import, place: Any
) -> None:
    bundle.sheet(**place(YESTERDAY))
    run(consent=Consent(reveal=True))
    assert Phase.objects.get().has_closed(datetime.now(UTC))


@pytest.mark.parametrize("place", PLACES)
def test_a_closing_time_in_the_future_needs_no_consent(
    bundle: BundleFolder, running: Challenge, run: Import, place: Any
) -> None:
    bundle.sheet(**place(LATER))
    run()
    assert Phase.objects.get().closing == LATER


@pytest.mark.parametrize("place", PLACES)
def test_an_end_within_a_day_that_is_earlier_than_before_is_refused_with_the_difference(
    bundle: BundleFolder, running: Challenge, run: Import, place: Any
) -> None:
    bundle.sheet(**place(LATER))
    run()
    soon = NOW + timedelta(hours=23)
    bundle.sheet(**place(soon))
    ((code, message),) = mistakes(run)
    assert code == "would_reveal"
    assert "phase main would end within 24 hours, earlier than announced" in message
    assert f"it would close at {written(soon)} instead of {written(LATER)}" in message
    run(consent=Consent(reveal=True))
    assert Phase.objects.get().closing == soon


def test_an_end_within_a_day_that_is_later_than_before_needs_no_consent(
    bundle: BundleFolder, running: Challenge, run: Import
) -> None:
    for hours, consent in ((2, Consent(reveal=True)), (3, Consent())):
        bundle.sheet(**PLACES[1](NOW + timedelta(hours=hours)))
        run(consent=consent)
    assert Phase.objects.get().closing == NOW + timedelta(hours=3)


FEEDBACK = [
    ("{scores: ladder}", "{scores: exact}", "every score instead of clear improvements only"),
    ("{scores: ladder}", "{scores: rounded, decimals: 2}", "every score instead of clear improvements only"),
    ("{scores: rounded, decimals: 2}", "{scores: rounded, decimals: 3}", "scores with 3 decimals instead of 2"),
    ("{scores: rounded, decimals: 2}", "{scores: exact}", "scores with all decimals instead of 2"),
    ("{classes: false}", "{classes: true}", "results per class"),
    (
        "{scores: ladder}\n    ladder: {standard_errors: 2}",
        "{scores: ladder}\n    ladder: {standard_errors: 1}",
        "improvements of more than 1 instead of 2 standard errors",
    ),
]


@pytest.mark.parametrize(("hides", "shows", "what"), FEEDBACK)
def test_feedback_that_shows_more_is_refused_in_a_running_phase_and_less_is_allowed(
    bundle: BundleFolder, running: Challenge, run: Import, hides: str, shows: str, what: str
) -> None:
    def sheet(feedback: str) -> None:
        bundle.sheet(challenge=f"opens_at: {written(OPENED)}\n", phase=f"    feedback: {feedback}\n")

    sheet(hides)
    run()
    sheet(shows)
    assert [code for code, _ in mistakes(run)] == ["would_reveal"]
    assert f"phase main would show participants more than before: {what}." in mistakes(run)[0][1]
    Challenge.objects.update(opens_at=LATER)
    bundle.sheet(challenge=f"opens_at: {written(LATER)}\n", phase=f"    feedback: {shows}\n")
    run()


def renamed(bundle: BundleFolder, opens_at: datetime) -> None:
    """Change the slug of the phase in the bundle, so that an import would remove the phase with the old slug."""
    bundle.sheet(challenge=f"opens_at: {written(opens_at)}\n", text=SHEET.replace("slug: main", "slug: other"))
    for name in ("boxes.csv", "image_labels.csv"):
        bundle.write(f"phases/other/truth/{name}", (bundle.path / "phases/main/truth" / name).read_bytes())


def test_a_running_phase_is_not_removed_without_consent(bundle: BundleFolder, running: Challenge, run: Import) -> None:
    renamed(bundle, OPENED)
    ((code, message),) = mistakes(run, consent=Consent(force=True))
    assert (code, "phase main would be removed" in message) == ("would_reveal", True)
    assert Phase.objects.get().slug == "main"
    run(consent=Consent(reveal=True))
    assert Phase.objects.get().slug == "other"


@pytest.mark.parametrize("who", ["a member", "a baseline", "nobody"])
def test_a_future_phase_with_members_or_submissions_is_not_removed_without_consent(
    bundle: BundleFolder, running: Challenge, run: Import, make: Make, who: str
) -> None:
    Challenge.objects.update(opens_at=LATER)
    if who == "a member":
        make.team(running, make.user())
    if who == "a baseline":
        make.submission(Phase.objects.get(), make.team(running, is_baseline=True))
    renamed(bundle, LATER)
    if who == "nobody":
        run()
    else:
        assert [code for code, _ in mistakes(run)] == ["would_reveal"]


def test_the_command_accepts_reveal_and_mentions_it_in_the_error(
    bundle: BundleFolder, running: Challenge, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle.sheet(**PLACES[0](YESTERDAY))
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("import_challenge", bundle.path)
    assert "--reveal" in capsys.readouterr().err
    call_command("import_challenge", bundle.path, reveal=True)
    assert Challenge.objects.get().closes_at == YESTERDAY


def test_a_running_phase_is_not_suspended_without_consent(
    bundle: BundleFolder, running: Challenge, run: Import
) -> None:
    bundle.sheet(challenge=f"opens_at: {written(LATER)}\n")
    ((code, message),) = mistakes(run)
    assert (code, "would stop accepting submissions" in message) == ("would_reveal", True)


def test_a_private_challenge_is_not_made_public_without_consent(
    bundle: BundleFolder, running: Challenge, run: Import
) -> None:
    Challenge.objects.update(visibility="private")
    ((code, message),) = mistakes(run)
    assert (code, "public instead of private" in message) == ("would_reveal", True)
    run(consent=Consent(reveal=True))


def test_a_phase_can_be_reopened_if_nobody_has_seen_it_closed(
    bundle: BundleFolder, running: Challenge, run: Import
) -> None:
    bundle.sheet(**PLACES[1](YESTERDAY))
    run(consent=Consent(reveal=True))
    bundle.sheet(**PLACES[1](LATER))
    run()
    assert Phase.objects.get().closing == LATER


def test_a_phase_whose_private_scores_were_readable_cannot_be_reopened(
    bundle: BundleFolder, running: Challenge, run: Import, client: Client
) -> None:
    bundle.sheet(**PLACES[1](YESTERDAY))
    run(consent=Consent(reveal=True))
    # The private scores become readable a few minutes later. Until then, organizers can cancel the reveal.
    assert client.get("/challenges/animals/leaderboard?split=private").status_code == 403
    Phase.objects.update(reveals_at=YESTERDAY)
    assert client.get("/challenges/animals/leaderboard?split=private").status_code == 200
    bundle.sheet(**PLACES[1](LATER))
    for consent in (Consent(), Consent(reveal=True, force=True)):
        ((code, message),) = mistakes(run, consent=consent)
        assert (code, "private scores have been readable since" in message) == ("revealed", True)


def test_reading_private_scores_as_an_organizer_does_not_count_as_revealing(
    bundle: BundleFolder, running: Challenge, run: Import, client: Client, make: Make
) -> None:
    bundle.sheet(**PLACES[1](YESTERDAY))
    run(consent=Consent(reveal=True))
    running.organizers.add(boss := make.user())
    client.force_login(boss)
    assert client.get("/challenges/animals/leaderboard?split=private").status_code == 200
    assert Phase.objects.get().revealed_at is None


def edited(row: Any, **values: Any) -> None:
    """Change a row and record the change in the audit log, as the admin does."""
    type(row).objects.filter(pk=row.pk).update(**values)
    kind = row._meta.model_name
    audit.record(actor=None, action=f"{kind}.changed", subject=f"{kind} {row.pk}", detail={"fields": sorted(values)})


def test_an_edit_on_the_server_is_not_undone_without_force(
    bundle: BundleFolder, running: Challenge, run: Import
) -> None:
    edited(running, summary="As edited")
    edited(Phase.objects.get(), quota_per_day=3)
    told = mistakes(run)
    assert [code for code, _ in told] == ["would_undo_edit"] * 2
    assert "summary was edited on the server; this import would change it from As edited to nothing" in told[0][1]
    assert "phase main: quota_per_day was edited on the server; this import would change it from 3 to 5" in told[1][1]
    assert Phase.objects.get().quota_per_day == 3


def test_with_force_an_edit_is_undone_and_later_imports_need_no_force(
    bundle: BundleFolder, running: Challenge, run: Import
) -> None:
    edited(Phase.objects.get(), quota_per_day=3)
    assert run(consent=Consent(force=True)) == ["phase main: quota_per_day changed"]
    bundle.sheet(challenge=f"opens_at: {written(OPENED)}\n", phase="    quota: {per_day: 7}\n")
    assert run() == ["phase main: quota_per_day changed"]


def test_an_edit_that_agrees_with_the_bundle_is_not_a_conflict(
    bundle: BundleFolder, running: Challenge, run: Import
) -> None:
    edited(Phase.objects.get(), quota_per_day=3)
    bundle.sheet(challenge=f"opens_at: {written(OPENED)}\n", phase="    quota: {per_day: 3}\n")
    assert run() == ["nothing changed"]


def test_an_import_changes_fields_that_were_not_edited(bundle: BundleFolder, running: Challenge, run: Import) -> None:
    edited(Phase.objects.get(), quota_per_day=3)
    bundle.sheet(challenge=f"opens_at: {written(OPENED)}\n", phase="    quota: {per_day: 3}\n    finals: 4\n")
    assert run() == ["phase main: finals changed"]


def test_a_phase_that_was_edited_is_not_removed_without_consent(
    bundle: BundleFolder, running: Challenge, run: Import
) -> None:
    edited(Phase.objects.get(), quota_per_day=3)
    renamed(bundle, OPENED)
    assert [code for code, _ in mistakes(run, consent=Consent(reveal=True))] == ["would_undo_edit"]
