"""Lists of the pages that several browser tests open. Add new pages to these lists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.core import mail
from django.test import Client
from pytest_django import Settings

from server.accounts.models import User
from server.challenges.models import Block, JoinRequest, Membership, Phase, RoleOffer, Team
from server.challenges.roles import Role
from server.notices.models import Announcement, Event, Kind, Notice
from server.notices.services.mails import unsubscribe_token
from server.organize.models import Rescoring, TruthStatistics
from server.pages.views.help import CHAPTERS
from server.teams.models import TeamProfile
from server.teams.services import invitations, merging
from tests.conftest import PASSWORD, Make
from tests.server.accounts.test_two_factor import protect
from tests.server.conftest import Scored, explain
from tests.server.pages.test_report import CONTENT

LONG = "a" * 40
RIGHT_TO_LEFT = "العنوان الطويل"
REJECTED = {
    "errors": [
        {"code": "not_finite", "message": "'NaN' " * 9, "line": 7, "column": "Score", "image": LONG, "token": 2}
    ],
    "total": 1,
}
MESSAGE = "no prediction can match an object: every box or mask is empty, inverted or outside the image"
NOTHING_TO_SCORE = {
    "errors": [{"code": "nothing_to_score", "message": MESSAGE, "line": None, "column": None}],
    "total": 1,
    "counts": {"nothing_to_score": 1},
    "notices": [
        {
            "code": "outside_image",
            "message": "every box extends outside the range 0 to 1. Are these pixels?",
            "count": 9,
        }
    ],
}
OF_A_CHALLENGE = (
    *("", "data", "rules", "changes", "team", "submit", "submissions", "compare"),
    *("announcements", "leaderboard", "leaderboard?q=a", "leaderboard/history", "leaderboard/compare"),
)
WITHOUT_ACCOUNT = (
    *(
        f"/accounts/{form}?next=/challenges/{LONG}{LONG}"
        for form in (
            *("signup", "login", "confirm", "confirm/bad"),
            *("password/forgotten", "password/sent", "password/done", "password/new/1/bad"),
        )
    ),
    *("/status", "/api/v1/docs", f"/missing/{LONG}{LONG}"),
)


COUNTS = {"all": 3, "public": 1, "private": 2}
CLASS = {"label": LONG, "name": LONG, **COUNTS}
BELOW = {"label": LONG, "name": LONG, "value": None, "reason": "there are no objects on this split, so it has no score"}
STATISTICS = {
    "counts": [{"title": "Images", "values": COUNTS, "kind": "number"}],
    "histograms": [
        {
            "title": "Boxes per image",
            "items": "images",
            "bins": ["0", "≥ 1"],
            "values": {"all": [1, 2], "public": [0, 1], "private": [1, 1]},
        }
    ],
    "rankings": [
        {
            **{"title": "Boxes per class", "word": "class", "total": 4},
            **{"missing": {"public": 1, "private": 0}, "rare": {"public": 1, "private": 1}},
            "curves": {"all": [[1, 900], [2, 3]], "public": [[1, 90]], "private": [[1, 800], [2, 3]]},
            **{"rows": [CLASS], "unbalanced": [CLASS]},
        }
    ],
    "ceiling": {
        split: {
            "metrics": [{"title": "mAP", "value": 0.5, "reason": "objects repeat each other"}],
            **{"rows": [BELOW], "row_count": 2},
        }
        for split in COUNTS
    },
}


@dataclass
class Reader:
    """A user who opens pages: a test client with the cookies of this user, and the URLs of the pages."""

    name: str
    client: Client
    addresses: list[str]


@pytest.fixture
def readers(addresses: list[str], member: User, client: Client, make: Make, settings: Settings) -> list[Reader]:
    """Return users who together may open every page of the website, with the pages for each user."""
    # Some pages require a recent login. Opening all pages may take longer than a login counts as recent by default.
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 24 * 3600
    return [
        Reader("member", client, [*addresses, ("/challenges/c/organizers")]),
        *by_links(make),
        organizer(make),
        *with_passwords(make),
    ]


def organizer(make: Make) -> Reader:
    """Return an organizer, with a challenge that has two versions of a ground truth."""
    user, client = make.user(username="o" * 60), Client()
    client.force_login(user)
    phase = make.phase(make.challenge(slug="own", title=LONG), slug="main", title=RIGHT_TO_LEFT)
    phase.challenge.organizers.add(user, make.user(username="p" * 60))
    Block.objects.create(
        challenge=phase.challenge, user=make.user(username="q" * 60), reason=LONG * 7, blocked_at=datetime.now(UTC)
    )
    JoinRequest.objects.create(
        challenge=phase.challenge,
        user=make.user(username="r" * 60),
        team_name=LONG,
        rules_accepted_at=datetime.now(UTC),
    )
    newer = make.truth(phase, content=b"{}")
    TruthStatistics.objects.create(truth=newer, content=STATISTICS)
    Rescoring.objects.create(phase=phase, truth=newer, signature="s", started_at=datetime.now(UTC))
    team = make.team(phase.challenge, name=LONG)
    failed = {"status": "failed", "fault": "platform", "failure_code": "accident", "failure": LONG * 5}
    make.submission(phase, team, file_name=f"{LONG}{LONG}.csv", finished_at=datetime.now(UTC), **failed)
    make.submission(phase, team)
    baseline = make.team(phase.challenge, name=RIGHT_TO_LEFT, is_baseline=True)
    make.submission(phase, baseline, file_name=f"{LONG}{LONG}.csv")
    organized = "/organize/challenges/own"
    of_phase = [
        f"{organized}/phases/main{page}"
        for page in (
            *("", "/live", "/submissions", "/unusual", "/intake", "/baselines", "/edit", "/clone", f"/teams/{team.pk}"),
            *("/truths/1", "/truths/2", "/preview?show=all", "/reveal"),
        )
    ]
    of_challenge = [
        organized,
        *(f"{organized}/{page}" for page in ("edit", "blocked", "teams", "clone", "new-phase", "archive", "delete")),
    ]
    own = [f"/challenges/own/{page}" for page in ("", "leaderboard", "organizers", "announcements")]
    addresses = ["/organize/", "/organize/import", "/organize/new", *of_challenge, *of_phase, *own]
    return Reader("organizer", client, addresses)


def with_passwords(make: Make) -> Iterator[Reader]:
    """Yield users with the pages about credentials that they may open.

    The pages require a recent login, manage or ask for a second factor, or set the first password of an account.
    """
    recent, protected, passwordless = Client(), Client(), Client()
    enter(recent, make.user())
    yield Reader("recent", recent, ["/accounts/two-factor/activate", "/accounts/data/delete"])
    user = make.user()
    enter(protected, user)
    protect(user)
    forms = ("deactivate", "codes", "codes/new", "confirm")
    pages = [f"/accounts/two-factor/{form}" for form in forms]
    yield Reader("protected", protected, ["/accounts/security", *pages])
    second_step = Client()
    enter(second_step, user)
    yield Reader("second step", second_step, ["/accounts/two-factor/login"])
    user = make.user()
    user.set_unusable_password()
    user.save()
    passwordless.force_login(user)
    yield Reader("passwordless", passwordless, ["/accounts/password/first"])


def enter(client: Client, user: User) -> None:
    """Log in, and confirm the password, because some pages require a recent confirmation.

    If the user has a second factor, the login remains incomplete.
    """
    for path, fields in (("login", {"login": user.username}), ("again", {})):
        assert client.post(f"/accounts/{path}", {**fields, "password": PASSWORD}).status_code == 302


def by_links(make: Make) -> Iterator[Reader]:
    """Yield users with the pages for links in emails, for an invitation link, and for the offer of a role."""
    nobody = Client()
    user, captain, guest = make.user(username="x" * 60), make.user(), make.user()
    address = EmailAddress.objects.get_or_create(user=user, email=user.email, defaults={"verified": False})[0]
    confirmation = f"/accounts/confirm/{EmailConfirmationHMAC(address).key}"
    nobody.post("/accounts/password/forgotten", {"email": user.email})
    links = re.findall(r"^(https?://\S+/accounts/password/new/\S+)$", str(mail.outbox[-1].body), re.MULTILINE)
    new_password = nobody.get(urlsplit(links[0]).path)
    yield Reader("nobody", nobody, [*WITHOUT_ACCOUNT, confirmation, new_password["Location"]])
    team = make.team(make.challenge(slug="inviting", title=LONG), captain, name=LONG)
    invited = Client()
    # The invitation is opened by a different user, because logging in as `user` would invalidate the link for setting a
    # new password.
    invited.force_login(guest)
    invited.get(f"/invitations/{invitations.invite_by_link(team=team, by=captain)[1]}")
    yield Reader("invited", invited, ["/invitation"])
    offer = RoleOffer.objects.create(
        challenge=team.challenge, user=captain, role=Role.VIEWER, offered_at=datetime.now(UTC)
    )
    offered = Client()
    offered.force_login(offer.user)
    yield Reader("offered", offered, ["/challenges/inviting/organizers/offer"])


@pytest.fixture
def addresses(member: User, make: Make, scored: Scored) -> list[str]:
    """Return the URLs of pages that contain long words, right-to-left names and wide tables."""
    phase = make.phase(make.challenge(slug="c", title=LONG, summary="long " * 40), feedback_classes=True)
    team = make.team(phase.challenge, member, name=LONG)
    scored(phase, 0.6, team=make.team(phase.challenge, name=RIGHT_TO_LEFT), interval=(0.5, 0.7))
    one = scored(phase, 0.5, team=team, interval=(0.4, 0.6), file_name=f"{LONG}{LONG}.csv", note="n" * 300)
    explain(one, CONTENT)
    done = {"finished_at": datetime.now(UTC)}
    scored(phase, 0.4, team=team, interval=(0.3, 0.5), file_name=f"{LONG}{LONG}.csv", note="n" * 300)
    teams = pages_of_teams(phase, team, member, make)
    now = datetime.now(UTC)
    event = Event.objects.create(kind="rejected", key="1", challenge=phase.challenge, text=LONG * 5, happened_at=now)
    Notice.objects.create(event=event, user=member)
    User.objects.filter(pk=member.pk).update(unread_notices=1)
    Announcement.objects.create(challenge=phase.challenge, title=LONG, text=LONG * 3, announced_at=now)
    other = make.submission(phase, team, status="rejected", fault="participant", problems=REJECTED, **done)
    useless = make.submission(phase, team, status="rejected", fault="participant", problems=NOTHING_TO_SCORE, **done)
    make.phase(make.challenge(slug="free", title="Not joined", rules="# Rules\n\nPlay fair."))
    return [
        *("/accounts/device", "/challenges/free/submit", f"/submissions/{useless.pk}/"),
        *("/", "/accounts/", "/accounts/password", "/accounts/notices", "/accounts/profile", "/accounts/security"),
        *("/accounts/again", "/accounts/data", f"/unsubscribe/{unsubscribe_token(member, Kind.SCORED)}"),
        *("/help/", *(f"/help/{name}" for name in CHAPTERS)),
        *(f"/challenges/c/{name}" for name in (*OF_A_CHALLENGE, *teams)),
        *(f"/submissions/{one.pk}/", f"/submissions/{other.pk}/"),
        *(
            f"/submissions/{one.pk}/report/{tab}"
            for tab in ("curves?chosen=%2Fm%2F1", "errors", "confusions", "classes")
        ),
    ]


def pages_of_teams(phase: Phase, team: Team, member: User, make: Make) -> list[str]:
    """Create invitations of all kinds and a proposed merge, and return relative URLs of pages about teams."""
    TeamProfile.objects.create(team=team, method=LONG, paper_url=f"https://example.org/{LONG}{LONG}")
    captain, mate = make.user(username="v" * 60), make.user()
    Membership.objects.create(team=team, challenge=phase.challenge, user=mate, rules_accepted_at=team.created_at)
    other = make.team(phase.challenge, captain, name=f"{RIGHT_TO_LEFT} {LONG[:30]}")
    invitations.ask(user=make.user(username="u" * 60), team=team, accept_rules=True)
    invitations.invite_by_link(team=team, by=member)
    invitations.invite(team=team, by=member, username=make.user().username)
    proposal = merging.propose(team=other, other=team, by=captain)
    elsewhere = make.team(make.challenge(slug="d", title=LONG), captain, name=LONG)
    invitation = invitations.invite(team=elsewhere, by=captain, username=member.username)
    return [
        *("team/leave", f"team/merges/{proposal.pk}"),
        *(f"team/members/{team.memberships.get(user=mate).pk}/{change}" for change in ("captain", "remove")),
        *(f"team/merge?team={other.name}", f"teams/{team.pk}"),
        *("../d/team", f"../d/invitations/{invitation.pk}"),
    ]
