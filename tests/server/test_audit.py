"""The audit log: every change of a row, every missing one and a cut-off tail is found."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from server.audit.models import Entry, Head
from server.audit.services import faults, record


@pytest.fixture
def log(db: None) -> list[Entry]:
    return [record(actor=None, action="test.done", subject=f"thing {number}") for number in range(1, 5)]


def test_an_untouched_log_holds(log: list[Entry]) -> None:
    assert list(faults()) == []


def test_an_empty_log_holds(db: None) -> None:
    assert list(faults()) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [("action", "other"), ("subject", "x"), ("actor_name", "eve"), ("actor_id", "7"), ("detail", {"a": 1})],
)
def test_a_changed_entry_is_found(log: list[Entry], field: str, value: Any) -> None:
    Entry.objects.filter(number=2).update(**{field: value})
    assert list(faults()) == ["entry 2 was changed"]


def test_a_removed_entry_is_found(log: list[Entry]) -> None:
    Entry.objects.filter(number=2).delete()
    assert "entry 2 is missing" in list(faults())


def test_a_cut_off_tail_is_found(log: list[Entry]) -> None:
    Entry.objects.filter(number=4).delete()
    assert list(faults()) == ["the log ends at entry 3, but 4 were written"]


def test_an_emptied_log_is_found(log: list[Entry]) -> None:
    Entry.objects.all().delete()
    assert list(faults()) == ["the log ends at entry 0, but 4 were written"]


def test_an_entry_changed_with_a_matching_hash_breaks_the_chain(log: list[Entry]) -> None:
    Entry.objects.filter(number=2).update(hash="0" * 64)
    assert "entry 3 does not follow entry 2" in list(faults())


def test_what_is_rolled_back_was_never_logged(db: None) -> None:
    class Stop(Exception):
        pass

    def interrupted() -> None:
        with transaction.atomic():
            record(actor=None, action="test.undone", subject="thing")
            raise Stop

    with pytest.raises(Stop):
        interrupted()
    record(actor=None, action="test.done", subject="thing")
    assert list(Entry.objects.values_list("number", "action")) == [(1, "test.done")]
    assert list(faults()) == []


def test_the_actor_outlives_the_account(make: Any) -> None:
    user = make.user(username="ada")
    record(actor=user, action="test.done", subject="thing")
    user.delete()
    assert Entry.objects.get(action="test.done").actor_name == "ada"


class TestCommand:
    def test_says_that_all_is_in_place(self, log: list[Entry]) -> None:
        out = StringIO()
        call_command("verify_audit", stdout=out)
        assert out.getvalue() == "4 entries, all in place\n"

    def test_fails_with_every_fault(self, log: list[Entry]) -> None:
        Entry.objects.filter(number__in=(1, 3)).update(subject="x")
        with pytest.raises(CommandError) as failure:
            call_command("verify_audit")
        assert str(failure.value) == "entry 1 was changed\nentry 3 was changed"

    def test_a_head_that_was_removed_shows(self, log: list[Entry]) -> None:
        Head.objects.all().delete()
        with pytest.raises(CommandError):
            call_command("verify_audit")
