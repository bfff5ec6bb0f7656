"""`manage.py quarantine` lists and restores files that the sweeper has moved to quarantine."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from server.audit.models import Entry
from server.submissions.services.sweeping import sweep
from tests.conftest import Make
from tests.server.submissions.conftest import Storing


def test_the_command_lists_the_files_in_quarantine_with_their_last_day(
    upload: Storing, capsys: pytest.CaptureFixture[str]
) -> None:
    upload("abc")
    sweep()
    call_command("quarantine")
    out = capsys.readouterr().out
    assert "submissions/abc" in out
    assert f"{datetime.now(UTC) + timedelta(days=30):%Y-%m-%d}" in out


def test_the_command_restores_the_named_files(upload: Storing, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = upload("one"), upload("other")
    sweep()
    call_command("quarantine", "submissions/one", restore=True)
    assert (one.exists(), other.exists()) == (True, False)
    assert sweep().quarantined == 0, "a restored file is not quarantined for an hour, in which its row can be restored"


@pytest.mark.parametrize(("names", "more"), [(["submissions/one"], {}), ([], {"all": True}), (["no/such"], {})])
def test_the_command_refuses_to_restore_without_names(upload: Storing, names: list[str], more: dict[str, bool]) -> None:
    path = upload("one")
    sweep()
    with pytest.raises(CommandError, match="require --restore"):
        call_command("quarantine", *names, **more)
    assert not path.exists()


def test_the_command_refuses_names_together_with_all(upload: Storing) -> None:
    path = upload("one")
    sweep()
    with pytest.raises(CommandError, match="Either name the files"):
        call_command("quarantine", "submissions/one", restore=True, all=True)
    assert not path.exists()


def test_the_command_restores_all_files(upload: Storing) -> None:
    paths = [upload(name) for name in ("one", "other")]
    sweep()
    call_command("quarantine", restore=True, all=True)
    assert all(path.exists() for path in paths)


def test_the_command_reports_unknown_files(upload: Storing) -> None:
    with pytest.raises(CommandError, match="not in quarantine: submissions/none"):
        call_command("quarantine", "submissions/none", restore=True)


def test_the_command_records_who_restored_a_file(upload: Storing, make: Make) -> None:
    upload("one")
    sweep()
    olga = make.user(username="olga", is_staff=True)
    call_command("quarantine", "submissions/one", restore=True, acts_for="olga")
    assert Entry.objects.values_list("actor_id", "action", "subject").last() == (
        str(olga.pk),
        "file.restored",
        "file submissions/one",
    )
