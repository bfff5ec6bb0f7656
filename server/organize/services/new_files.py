"""Removes newly stored files if the database transaction that adds the rows for them fails."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from django.core.files import File
from django.db.models.fields.files import FieldFile


class Movable(File):
    """A complete file in a temporary folder. Storage backends on the same disk move the file instead of copying it."""

    def temporary_file_path(self) -> str:
        return str(self.name)


class NewFiles:
    """A context manager that removes the files stored in its block if the block raises. Use it inside a transaction.

    After the block, files are kept even if the commit seems to fail. The commit may have succeeded, and then the
    database refers to these files. If it did fail, the sweeper (a periodic task) moves them to quarantine.
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
            os.fsync(file.fileno())  # The file must be on disk before the rows that refer to it are committed.
            field.save(name, Movable(file, str(path)), save=False)
        self._stored.append(field)
