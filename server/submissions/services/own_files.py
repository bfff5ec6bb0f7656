"""Lets the members of a team download the files that the team has submitted."""

from django.http import FileResponse

from server.accounts.models import User
from server.errors import Refused
from server.submissions.models import Submission
from server.submissions.services import retention
from server.submissions.services.choices import refuse_non_member


def download(*, submission: Submission, by: User) -> FileResponse:
    """Return the exact bytes that were uploaded, as an attachment with the participant's file name.

    Raises Refused for organizers, who may not read the files of teams, and if the file has been removed.
    """
    refuse_non_member(submission, by)
    if not submission.file:
        raise Refused("file_removed", retention.removal_text(submission))
    try:
        content = submission.file.open("rb")
    except FileNotFoundError:
        raise Refused("file_missing", "The stored file cannot be found. Ask the operator to restore it.") from None
    answer = FileResponse(
        content, as_attachment=True, filename=submission.file_name, content_type="application/octet-stream"
    )
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Cache-Control"] = "private, no-store"
    return answer
