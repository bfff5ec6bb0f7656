"""Accepts a file that arrives in several requests.

The rules for submissions are checked again when the last byte arrives.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from math import ceil
from typing import Protocol
from uuid import uuid4

from django.conf import settings
from django.utils.timezone import now as local_now

from server.accounts.models import User
from server.challenges.models import Phase, Team
from server.clock import database_now, utc_text
from server.errors import Refused, full_disk
from server.submissions import partial_uploads
from server.submissions.models import Submission
from server.submissions.partial_uploads import PartialUpload, ReceivedFile
from server.submissions.services import admission, intake
from server.submissions.services.choices import checked_note
from server.submissions.upload_handler import upload_folder

ROOM_IN_UPLOADS = 4  # Disk space for all partial uploads on a machine, in multiples of the maximum upload size.
CHUNK_BYTES = 2**16
# After an error with one of these HTTP statuses, the client can repeat the request. After any other error, the partial
# upload cannot be completed.
MAY_BE_REPEATED = (429, 503, 507)
BUSY = "Another request is writing to this upload. Repeat your request in a second."


class Readable(Protocol):
    """A request body that can be read as a stream."""

    def read(self, size: int, /) -> bytes: ...


def begin(
    *,
    user: User,
    team: Team,
    phase: Phase,
    length: int,
    file_name: str = "",
    note: str = "",
    key: str = "",
    force: bool = False,
) -> PartialUpload:
    """Create a partial upload for a file of `length` bytes. Raises Refused if the file could not be submitted now."""
    admission.refuse_large(length)
    earlier = intake.submitted_before(team=team, phase=phase, key=key)
    if earlier and earlier.size_bytes != length:
        raise intake.key_used()
    if not earlier:
        now = database_now()
        admission.refuse_early(team=team, phase=phase, now=now, more_bytes=length)
    upload = PartialUpload(
        id=(identifier := uuid4()),
        user=user.pk,
        phase=phase.pk,
        length=length,
        file_name=intake.visible_name(file_name),
        note=checked_note(note),
        key=key or f"upload {identifier}",
        force=force,
    )
    with partial_uploads.locked(upload_folder(), wait=True):
        make_room(user, length)
        try:
            partial_uploads.create(upload)
        except OSError as error:
            raise full_disk(error) or error from error
    return upload


def make_room(user: User, length: int) -> None:
    """Remove as many idle uploads as needed for an upload of `length` bytes. Raise Refused if this is not enough.

    An upload to which a request is writing is kept, even if it is slow.

    Idle uploads of the user are removed first, then those of other users. Within each group, uploads that have been
    idle the longest are removed first.
    """
    unfinished = partial_uploads.unfinished()
    idle = [upload for upload in unfinished if upload.is_idle and not partial_uploads.is_used(upload)]
    idle.sort(key=lambda upload: (upload.user != user.pk, upload.changed_at))
    refusal = refusal_without_room(user, length, unfinished)
    needed = 0
    while refusal and needed < len(idle):
        needed += 1
        left = [upload for upload in unfinished if upload not in idle[:needed]]
        if not refusal_without_room(user, length, left, freed=sum(upload.offset for upload in idle[:needed])):
            removed = [partial_uploads.discard_unless_used(upload) for upload in idle[:needed]]
            refusal = None if all(removed) else refusal
            break
    if refusal:
        raise refusal


def refusal_without_room(
    user: User, length: int, unfinished: Sequence[PartialUpload], *, freed: int = 0
) -> Refused | None:
    """Return the reason why the user cannot begin another upload of `length` bytes, or None if the user can.

    The number of unfinished uploads of an account is limited, and so is their space: they may use at most as much as
    remains free for other uploads. Each partial upload counts with the size of its complete file. `freed` is the disk
    space, in bytes, that removing other uploads would free.
    """
    own = [upload for upload in unfinished if upload.user == user.pk]
    if len(own) >= settings.ACCOUNT_MAX_UPLOADS:
        return too_many(f"Your account has {len(own)} unfinished uploads, which is the limit.", own)
    left = ROOM_IN_UPLOADS * settings.UPLOAD_MAX_BYTES - sum(upload.length for upload in unfinished)
    if length > min(left, shutil.disk_usage(upload_folder()).free + freed):
        return Refused("no_space", "There is no space for another upload at the moment. Try again later.")
    if sum(upload.length for upload in own) + length > left - length:
        if not own:
            return Refused("no_space", "There is no space for an upload of this size at the moment. Try again later.")
        return too_many("Your unfinished uploads use all of the disk space that is available to your account.", own)
    return None


def too_many(reason: str, own: Sequence[PartialUpload]) -> Refused:
    frees_at = min(upload.changed_at for upload in own) + partial_uploads.IDLE
    minutes = partial_uploads.IDLE // timedelta(minutes=1)
    advice = (
        f"Finish or delete an upload, or try again at {utc_text(frees_at)}. An upload that has received no data for "
        f"{minutes} minutes is removed if another upload needs its space."
    )
    seconds = max(1, ceil((frees_at - local_now()).total_seconds()))
    return Refused("rate_limited", f"{reason} {advice}", retry_after=seconds)


def receive(
    upload: PartialUpload, *, user: User, team: Team, phase: Phase, offset: int, count: int, body: Readable
) -> Submission | None:
    """Append `count` bytes at `offset`. If this completes the file, submit it and return the submission.

    If all bytes have already arrived, an empty request submits the file. A client sends such a request if it did not
    receive the last response. If the team has already submitted a file with the upload's idempotency key, the rules
    for submissions are not checked again, but the two files must be equal.
    """
    with useless_if_refused(upload), writing(upload):
        earlier = intake.submitted_before(team=team, phase=phase, key=upload.key)
        if earlier and not upload.content.exists():
            return earlier
        if not earlier:
            now = database_now()
            admission.refuse_early(team=team, phase=phase, now=now, more_bytes=upload.length)
            admission.take_upload_slots(user=user, team=team, phase=phase, now=now)
        else:
            admission.take_account_slot(user)
        refuse_wrong_offset(upload, offset, count)
        append(upload, body)
        if upload.offset < upload.length:
            return None
        if not earlier:
            return finish(upload, user=user, team=team, phase=phase)
        intake.refuse_other_file(earlier, upload.sha256(), force=upload.force)
        upload.content.unlink()
        return earlier


@contextmanager
def useless_if_refused(upload: PartialUpload) -> Iterator[None]:
    """Remove a partial upload if the `with` block raises a permanent error, so that the upload no longer uses space."""
    try:
        yield
    except Refused as refusal:
        if refusal.status not in MAY_BE_REPEATED and refusal.code != "wrong_offset":
            partial_uploads.discard(upload)
        raise


@contextmanager
def writing(upload: PartialUpload) -> Iterator[None]:
    try:
        with partial_uploads.locked(upload.folder, wait=False):
            # The upload may have been removed after its folder was opened but before it was locked.
            if not upload.folder.exists():
                raise FileNotFoundError
            yield
    except FileNotFoundError:
        raise Refused("not_found", "This upload was deleted.") from None
    except BlockingIOError:
        raise Refused("rate_limited", BUSY, retry_after=1) from None


def refuse_wrong_offset(upload: PartialUpload, offset: int, count: int) -> None:
    if offset != upload.offset:
        detail = f"The server has {upload.offset:,} bytes of this file. Continue there, with this Upload-Offset."
        raise Refused("wrong_offset", detail, offset=upload.offset)
    if offset + count > upload.length:
        detail = f"The request exceeds the {upload.length:,} bytes announced by Upload-Length."
        raise Refused("wrong_offset", detail, offset=upload.offset)


def append(upload: PartialUpload, body: Readable) -> None:
    """Append a request body to the received bytes. If the disk becomes full, the bytes that were written are kept."""
    try:
        with upload.content.open("ab") as content:
            while data := body.read(CHUNK_BYTES):
                content.write(data)
    except OSError as error:
        raise full_disk(error) or error from error


def finish(upload: PartialUpload, *, user: User, team: Team, phase: Phase) -> Submission:
    """Submit the complete file of a partial upload.

    The received bytes are kept until the file is accepted, so that nothing is lost if submitting the file fails.
    """
    link = upload.folder / "complete"
    link.unlink(missing_ok=True)
    os.link(upload.content, link)
    with ReceivedFile(link, upload.file_name, upload.sha256()) as file:
        submission = intake.submit(
            user=user, team=team, phase=phase, file=file, note=upload.note, force=upload.force, key=upload.key
        )
    upload.content.unlink()
    link.unlink(missing_ok=True)
    return submission
