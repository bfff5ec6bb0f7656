"""No matter how a rescoring is applied, each team member gets one notice, and an email only if emails are enabled."""

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client

from server.challenges.models import Phase
from server.notices.services import deriving, mails
from server.organize.services import rescoring
from tests.conftest import Make
from tests.server.conftest import Scored
from tests.server.documented import Api
from tests.server.notices.conftest import choose_all, kinds_of
from tests.server.organize.test_rescoring import add, done

pytestmark = [
    pytest.mark.phase(challenge={"slug": "c"}, slug="main"),
    pytest.mark.usefixtures("inline_queue", "begun"),
]


@pytest.mark.parametrize("way", ["page", "api", "command"])
def test_every_member_gets_one_notice_and_a_mail_if_chosen(
    way: str, phase: Phase, make: Make, scored: Scored, client: Client, api: Api
) -> None:
    boss, ada, bob, idle = (make.user(username=name, email=f"{name}@example.org") for name in "wxyz")
    phase.challenge.organizers.add(boss)
    first = scored(phase, 0.5, team=make.team(phase.challenge, ada, bob))
    make.team(phase.challenge, idle)
    choose_all(ada)
    rescoring.start(phase=phase, by=boss, truth=add(phase, version=2))
    done(first, 0.4)
    if way == "page":
        client.force_login(boss)
        client.post("/organize/challenges/c/phases/main/apply")
    elif way == "api":
        api.post("challenges/c/phases/main/rescore/apply", {}, user=boss, scope="organize")
    else:
        call_command("rescore", "c", "main", "--truth", "2")
    for _ in range(2):
        deriving.derive()
        mails.deliver_due()
    assert [kinds_of(one) for one in (ada, bob, idle, boss)] == [["rescored"], ["rescored"], [], []]
    assert [one.to for one in mail.outbox] == [["x@example.org"]]
