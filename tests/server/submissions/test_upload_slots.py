"""Upload slots limit how many large request bodies from one team can arrive at the same time."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django import Settings

from server.errors import Refused
from server.submissions import upload_slots
from server.submissions.services import admission
from server.submissions.upload_slots import SLOTS, PendingUpload, pending
from tests.conftest import Make

HOLD = """
import sys, django; django.setup()
from server.submissions.upload_slots import SLOTS
print(sum(SLOTS.take("team", 3) is not None for _ in range(int(sys.argv[1]))), flush=True)
sys.stdin.read()
"""


class TestSlots:
    def test_slots_of_all_processes_are_counted_and_those_of_a_killed_process_are_released(
        self, settings: Settings
    ) -> None:
        environment = {**os.environ, "PODIUM_HOME": str(settings.PODIUM_HOME)}
        environment["DJANGO_SETTINGS_MODULE"] = "server.settings"
        command = [sys.executable, "-c", HOLD, "2"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, env=environment, **pipes) as other:
            assert other.stdout.readline() == b"2\n"
            mine = SLOTS.take("team", 3)
            assert mine is not None
            assert SLOTS.take("team", 3) is None
            other.send_signal(signal.SIGKILL)
        again = SLOTS.take("team", 2)
        assert again is not None
        for slot in (mine, again):
            SLOTS.release(slot)

    def test_a_request_whose_body_has_arrived_needs_no_slot(self) -> None:
        assert all(upload_slots.take("team", 0) for _ in range(3))


class TestUploadsAtOnce:
    @pytest.fixture
    def entrant(self, make: Make) -> dict[str, Any]:
        phase = make.phase(quota_per_day=3, attempts_per_day=20)
        user = make.user()
        return {"user": user, "team": make.team(phase.challenge, user), "phase": phase}

    @pytest.fixture
    def begin(self) -> Iterator[Callable[..., PendingUpload]]:
        """Return a function that reserves the upload slots for a new upload: `begin(user=…, team=…, phase=…)`."""
        uploads = []

        def begin(**who: Any) -> PendingUpload:
            uploads.append(PendingUpload())
            with pending(uploads[-1]):
                admission.take_upload_slots(**who, now=admission.quota.datetime.now(admission.quota.UTC))
            return uploads[-1]

        yield begin
        for upload in uploads:
            upload.release()

    def test_no_more_uploads_can_run_at_once_than_the_quota_allows(
        self, entrant: dict[str, Any], begin: Callable[..., PendingUpload], make: Make
    ) -> None:
        uploads = [begin(**entrant) for _ in range(3)]
        with pytest.raises(Refused) as refused:
            begin(**entrant)
        assert (refused.value.code, refused.value.headers) == ("rate_limited", {"Retry-After": "30"})
        mate = make.user()
        with pytest.raises(Refused):
            begin(**{**entrant, "user": mate})
        uploads[1].release()
        begin(**entrant)

    def test_uploads_of_one_team_do_not_take_slots_of_another(
        self, entrant: dict[str, Any], begin: Callable[..., PendingUpload], make: Make
    ) -> None:
        for _ in range(3):
            begin(**entrant)
        user = make.user()
        other = {"user": user, "team": make.team(entrant["phase"].challenge, user), "phase": entrant["phase"]}
        assert begin(**other) is not begin(**other)
        with pytest.raises(Refused, match="submissions left"):
            begin(**entrant)

    def test_an_account_has_a_limit_over_all_its_challenges(
        self, entrant: dict[str, Any], begin: Callable[..., PendingUpload], make: Make, settings: Settings
    ) -> None:
        settings.ACCOUNT_MAX_UPLOADS = 2
        phase = make.phase()
        elsewhere = {"user": entrant["user"], "team": make.team(phase.challenge, entrant["user"]), "phase": phase}
        begin(**entrant)
        begin(**elsewhere)
        with pytest.raises(Refused) as refused:
            begin(**elsewhere)
        assert refused.value.code == "rate_limited"
