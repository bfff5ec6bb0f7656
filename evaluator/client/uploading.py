"""Uploads a file in parts with the tus 1.0.0 protocol, and resumes interrupted uploads."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from evaluator.client import servers
from evaluator.client.errors import NotUsable, Refused, TryLater
from evaluator.client.http import LONG_PATIENCE_SECONDS, Api

# Size of the parts of an upload. This is the maximum amount of data to upload again after a lost connection.
PART_BYTES = 4 * 2**20
PIECE_BYTES = 2**16
# Maximum number of consecutive failed requests of an upload. After one more failure, the upload is aborted.
FAILURES = 12
STARTS = 3
TUS = {"Tus-Resumable": "1.0.0"}
Advance = Callable[[int], None]


class Upload:
    """The upload of a file to a phase. ``advance`` is called with the number of bytes that have been uploaded."""

    def __init__(
        self, api: Api, phase_path: str, file: Path, *, note: str, advance: Advance, force: bool = False
    ) -> None:
        self.api, self.phase_path, self.file, self.advance = api, phase_path, file, advance
        self.metadata = encoded({"filename": file.name, "note": note, "force": "true" if force else ""})
        self.size = file.stat().st_size
        with file.open("rb") as content:
            self.sha256 = file_digest(content, "sha256").hexdigest()
        about = "\n".join((api.server, phase_path, self.sha256, self.metadata))
        self.memory = sha256(about.encode()).hexdigest()

    def run(self) -> str:
        """Upload the parts of the file that the server does not have yet, and return the id of the submission.

        Raises
        ------
        Refused
        """
        for _ in range(STARTS):
            try:
                submission = self._send_all(self._earlier_state() or self._begin())
            except Refused as refusal:
                if refusal.status == 404 and servers.remembered_upload(self.memory):
                    # The server has deleted the unfinished upload, so a new upload is started.
                    servers.remember_upload(self.memory, None)
                    continue
                if not isinstance(refusal, TryLater):
                    servers.remember_upload(self.memory, None)
                raise
            servers.remember_upload(self.memory, None)
            return submission
        raise TryLater(
            0, {"code": "unreachable", "detail": "the server lost the upload several times; try again later"}
        )

    def _earlier_state(self) -> dict[str, Any] | None:
        known = servers.remembered_upload(self.memory)
        return dict(self.api.get(f"uploads/{known['id']}")) if known else None

    def _begin(self) -> dict[str, Any]:
        headers = {
            **TUS,
            "Upload-Length": str(self.size),
            "Upload-Metadata": self.metadata,
            "Idempotency-Key": uuid4().hex,
        }
        state = dict(self.api.json_of(self.api.send("POST", f"{self.phase_path}/uploads", headers=headers)))
        servers.remember_upload(self.memory, {"id": state["id"]})
        return state

    def _send_all(self, state: dict[str, Any]) -> str:
        """Send parts of the file until the server has created the submission, and return the id of the submission.

        After a failed request, another request asks the server for the offset at which to continue.
        """
        path, failures = f"uploads/{state['id']}", 0
        with self.file.open("rb") as content:
            while state["submission"] is None:
                self.advance(state["offset"])
                try:
                    offset = self._send_part(path, content, state["offset"])
                    failures = 0
                    if offset < self.size:
                        state["offset"] = offset
                        continue
                except TryLater as refusal:
                    failures += 1
                    if failures > FAILURES or refusal.code in ("quota_exhausted", "storage_exhausted", "no_space"):
                        raise
                    self.api.sleep(self.api.pause_after(refusal, failures))
                except Refused as refusal:
                    failures += 1
                    if refusal.code != "wrong_offset" or failures > FAILURES:
                        raise
                state = dict(self.api.get(path, patience=LONG_PATIENCE_SECONDS))
        self.advance(self.size)
        return str(state["submission"])

    def _send_part(self, path: str, content: BinaryIO, offset: int) -> int:
        """Send the part of the file at an offset, and return the offset of the next part."""
        count = min(PART_BYTES, self.size - offset)
        content.seek(offset)
        headers = {
            **TUS,
            "Upload-Offset": str(offset),
            "Content-Type": "application/offset+octet-stream",
            "Content-Length": str(count),
        }
        body = self._pieces(content, offset, count)
        response = self.api.send("PATCH", path, patience=0, headers=headers, content=body)
        return int(response.headers["Upload-Offset"])

    def _pieces(self, content: BinaryIO, offset: int, count: int) -> Iterator[bytes]:
        end = offset + count
        while offset < end:
            piece = content.read(min(PIECE_BYTES, end - offset))
            if not piece:
                raise NotUsable(f"{self.file} became shorter while it was being uploaded")
            yield piece
            offset += len(piece)
            self.advance(offset)


def encoded(pairs: dict[str, str]) -> str:
    """Return the value of the Upload-Metadata header. Empty values are omitted: the header must not end in a space.

    >>> encoded({"filename": "a.csv", "note": ""})
    'filename YS5jc3Y='
    """
    return ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in pairs.items() if value)
