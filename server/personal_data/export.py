"""Exports the personal data of a user as a zip file, which is created while it is being downloaded."""

import json
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.core.serializers.json import DjangoJSONEncoder

from server.accounts.models import ApiToken, User
from server.challenges.models import Block, FormerMember, JoinRequest, Membership
from server.clock import database_now
from server.notices.models import Announcement, MailChoice, Notice
from server.submissions.feedback import load_scores, score_access, scores_in
from server.submissions.models import Submission
from server.teams.models import Invitation

Row = dict[str, Any]

CHUNK_BYTES = 2**16
SUBMISSIONS_AT_ONCE = 100
FILE_DATE = (1980, 1, 1, 0, 0, 0)
README = """Your data on Podium, exported at {now}.

account.json       your account, addresses, profile and email settings
tokens.json        your API tokens, without their secrets
devices.json       the browsers in which you are logged in
memberships.json   your teams, former teams, requests and invitations, and challenges that you cannot join
notices.json       your notices
organizing.json    challenges that you organize, and your announcements
submissions.jsonl  your submissions, one JSON object per line, with the scores that you can see now
submissions/       the files that you submitted, if they are still stored

The audit log is not included. It contains your account ID, but not your name.
"""


class Sink:
    """A write-only file object in memory. `take` returns the bytes that were written since its last call."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing, because the bytes that were written can immediately be read with `take`."""

    def close(self) -> None:
        """Do nothing, because the bytes are kept in memory and there is no open file to close."""

    def take(self) -> bytes:
        taken = b"".join(self.parts)
        self.parts.clear()
        return taken


def zip_of(user: User) -> Iterator[bytes]:
    """Yield the zip file with the personal data of a user, in parts.

    It contains only the files that the user submitted, not those of teammates.
    """
    sink = Sink()
    with ZipFile(sink, "w", ZIP_DEFLATED) as archive:
        archive.writestr(entry("README.txt"), README.format(now=f"{database_now():%Y-%m-%d %H:%M} UTC"))
        for name, rows in documents(user):
            archive.writestr(entry(name), as_json(rows))
            yield sink.take()
        with archive.open(entry("submissions.jsonl"), "w", force_zip64=True) as lines:
            for row in submission_rows(user):
                lines.write(as_json(row, indent=None).encode() + b"\n")
                yield sink.take()
        for submission in Submission.objects.stored().filter(user=user).order_by("received_at").iterator():
            yield from written(archive, sink, submission)
    yield sink.take()


def entry(name: str, kind: int = ZIP_DEFLATED) -> ZipInfo:
    info = ZipInfo(name, FILE_DATE)
    info.compress_type = kind
    return info


def as_json(rows: Any, indent: int | None = 2) -> str:
    return json.dumps(rows, cls=DjangoJSONEncoder, indent=indent, ensure_ascii=False)


def written(archive: ZipFile, sink: Sink, submission: Submission) -> Iterator[bytes]:
    """Add the file of a submission to the zip archive, and yield the new bytes of the archive after each step.

    A missing file is skipped.
    """
    try:
        source = submission.file.open("rb")
    except FileNotFoundError:
        # The file was removed after the list of stored files was read, so it is left out of the archive.
        return
    name = f"submissions/{submission.pk}{ending_of(submission.file_name)}"
    with source, archive.open(entry(name, ZIP_STORED), "w", force_zip64=True) as target:
        while chunk := source.read(CHUNK_BYTES):
            target.write(chunk)
            yield sink.take()


def ending_of(name: str) -> str:
    """Return the known extensions at the end of a submitted file name, such as ".csv.gz", in lower case.

    No other part of the submitted name is used in file names, because it could be unsafe or contain personal data.

    >>> ending_of("../../predictions.CSV.gz")
    '.csv.gz'
    """
    endings = PurePosixPath(name.lower()).suffixes[-2:]
    return "".join(one for one in endings if one in (".csv", ".json", ".gz"))


def documents(user: User) -> Iterator[tuple[str, Any]]:
    """Yield the name and the content of each JSON document in the export of a user's personal data."""
    yield "account.json", account_of(user)
    yield (
        "tokens.json",
        rows(
            ApiToken.objects.filter(user=user),
            *("name", "scope", "start", "created_at", "expires_at", "last_used_at", "revoked_at"),
        ),
    )
    yield "devices.json", rows(UserSession.objects.filter(user=user), "ip", "user_agent", "created_at")
    yield "memberships.json", memberships_of(user)
    yield (
        "notices.json",
        rows(
            Notice.objects.filter(user=user),
            *("event__kind", "event__text", "event__path", "event__happened_at", "read_at", "mailed_at"),
        ),
    )
    organized = user.organized_challenges.values_list("slug", flat=True)
    announced = Announcement.objects.filter(announced_by=user)
    announcements = rows(announced, "challenge__slug", "title", "text", "announced_at")
    yield "organizing.json", {"challenges": [*organized], "announcements": announcements}


def account_of(user: User) -> Row:
    fields = ("id", "username", "email", "display_name", "affiliation", "country", "first_name", "last_name")
    return {
        **{name: getattr(user, name) for name in (*fields, "date_joined", "last_login", "is_staff")},
        "addresses": rows(EmailAddress.objects.filter(user=user), "email", "verified", "primary"),
        "two_factor": rows(Authenticator.objects.filter(user=user), "type", "created_at", "last_used_at"),
        "mails": [*MailChoice.objects.filter(user=user).values_list("kind", flat=True)],
    }


def memberships_of(user: User) -> Row:
    joined = ("challenge__slug", "team__name", "is_captain", "is_shown", "rules_accepted_at", "joined_at")
    return {
        "teams": rows(Membership.objects.filter(user=user), *joined),
        "former_teams": rows(FormerMember.objects.filter(user=user), "challenge__slug", "team__name", "left_at"),
        "requests_to_join": rows(
            JoinRequest.objects.filter(user=user), "challenge__slug", "team_name", "status", "requested_at"
        ),
        "blocks": rows(Block.objects.filter(user=user), "challenge__slug", "reason", "blocked_at"),
        "invitations": rows(
            Invitation.objects.filter(user=user), "team__challenge__slug", "team__name", "kind", "created_at"
        ),
    }


def rows(found: Any, *names: str) -> list[Row]:
    """Return a dict for each object in a queryset, with the given fields, named as in the exported documents."""
    return [
        {name.replace("event__", "").replace("__", "_"): value for name, value in row.items()}
        for row in found.values(*names)
    ]


def submission_rows(user: User) -> Iterator[Row]:
    """Yield the exported data about each of a user's submissions, with its scores if the user may still see them."""
    own = Submission.objects.filter(user=user).select_related("phase__challenge", "team").order_by("received_at")
    keys = [*own.values_list("pk", flat=True)]
    for start in range(0, len(keys), SUBMISSIONS_AT_ONCE):
        some = [*own.filter(pk__in=keys[start : start + SUBMISSIONS_AT_ONCE])]
        yield from described(user, some)


def described(user: User, submissions: list[Submission]) -> Iterable[Row]:
    seen = Submission.objects.visible_to(user).filter(pk__in=[one.pk for one in submissions])
    visible = set(seen.values_list("pk", flat=True))
    load_scores(submissions)
    now = database_now()
    names = ("id", "file_name", "size_bytes", "sha256", "note", "method", "final", "status", "received_at")
    for one in submissions:
        access = score_access(one.phase, viewer=user, now=now)
        yield {
            **{name: getattr(one, name) for name in names},
            # Exact times would reveal how long scoring took, which depends on the ground truth.
            "finished_at": one.finished_at and one.finished_at.replace(microsecond=0),
            "challenge": one.phase.challenge.slug,
            "phase": one.phase.slug,
            "team": one.team.name,
            **({"problems": one.problems, "scores": scores_in(one, access)} if one.pk in visible else {}),
        }
