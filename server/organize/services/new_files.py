"""Files that go into storage together with the rows that name them, or not at all."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from django.core.files import File
from django.db.models.fields.files import FieldFile


class Movable(File):
    """A finished file in a workspace: storage on the same disk takes it over instead of copying it."""

    def temporary_file_path(self) -> str:
        return str(self.name)


class NewFiles:
    """The innermost block of a transaction: if it fails, what was stored in it is removed.

    Once it is left nobody here knows how the commit went (its answer may be lost), and the files stay: a row that is
    there must not lose them, and truths without a row are swept up.
    """

    def __init__(self) -> None:
        self._stored: list[FieldFile] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            for field in self._stored:
                field.storage.delete(str(field.name))

    def store(self, field: FieldFile, path: Path, *, name: str) -> None:
        with path.open("rb") as file:
            os.fsync(file.fileno())  # the rows will be on the disk; so must be what they name
            field.save(name, Movable(file, str(path)), save=False)
        self._stored.append(field)
