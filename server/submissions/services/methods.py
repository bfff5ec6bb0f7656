"""The method of a submission or a team: its name, and links to a paper and code."""

from urllib.parse import urlsplit

from django.db import transaction

from evaluator.texts import one_line
from server.accounts.models import User
from server.audit import services as audit
from server.challenges.roles import refuse_archived
from server.errors import Refused
from server.submissions.models import Submission
from server.submissions.services.choices import refuse_non_member
from server.submissions.services.team_locks import lock_team

METHOD_CHARACTERS, URL_CHARACTERS = 120, 500


@transaction.atomic
def set_method(
    *,
    submission: Submission,
    by: User,
    method: str | None = None,
    paper_url: str | None = None,
    code_url: str | None = None,
) -> Submission:
    """Change the method of a submission. For each field, None keeps the value and an empty string removes it.

    The method can be changed until the challenge is archived, because it affects no leaderboard.
    """
    lock_team(submission)
    refuse_non_member(submission, by)
    refuse_archived(submission.phase.challenge)
    given = {"method": method, "paper_url": paper_url, "code_url": code_url}
    checks = {"method": checked_method, "paper_url": checked_url, "code_url": checked_url}
    checked = {name: checks[name](value) for name, value in given.items() if value is not None}
    submission.refresh_from_db(fields=list(given))
    changed = {name: value for name, value in checked.items() if value != getattr(submission, name)}
    if not changed:
        return submission
    for name, value in changed.items():
        setattr(submission, name, value)
    submission.save(update_fields=list(changed))
    audit.record(
        actor=by, action="submission.method", subject=f"submission {submission.pk}", detail={"fields": list(changed)}
    )
    return submission


def checked_method(name: str) -> str:
    """Return the name of a method as one line of text. Raises Refused if it is too long or has hidden characters."""
    return checked_line(name, METHOD_CHARACTERS)


def checked_line(text: str, most: int) -> str:
    try:
        return one_line(text, most) if text.strip() else ""
    except ValueError as error:
        raise Refused("invalid", f"{error}.") from None


def checked_url(text: str) -> str:
    """Return a valid URL or an empty string. Raises Refused if the text is not an https or http URL with a host."""
    url = checked_line(text, URL_CHARACTERS)
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if url and (parts.scheme not in ("https", "http") or not parts.hostname or " " in url):
        raise Refused("invalid", "A link must be a web address that begins with https:// or http://.")
    return url
