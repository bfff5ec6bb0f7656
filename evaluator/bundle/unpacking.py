"""Copies or unpacks a bundle to a temporary folder. Paths, file types and sizes are checked."""

import errno
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from evaluator.bundle.copying import CHUNK_BYTES, KEEP_LESS, MAX_ENTRIES, copy_folder, is_clutter, is_short
from evaluator.bundle.limits import DEFAULTS, BundleLimits
from evaluator.bundle.mistakes import Mistakes

NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
BACKSLASHES = (
    "has names with backslashes, such as '{name}'; some programs for Windows write them instead of slashes. Create the "
    "zip file again with Windows Explorer or 7-Zip"
)


@contextmanager
def opened(path: Path, limits: BundleLimits = DEFAULTS) -> Iterator[Path]:
    """Yield a temporary folder that contains the files of a bundle. The folder is removed afterwards.

    Raises InvalidBundle if the bundle cannot be read, contains anything other than regular files and folders, or
    exceeds the size limits.
    """
    with TemporaryDirectory(prefix="bundle-", dir=limits.workspace) as folder:
        mistakes, top = Mistakes(), Path(folder)
        with _reported(mistakes, path.name):
            if path.is_dir():
                copy_folder(path, top, mistakes, limits)
            else:
                top = _unpack(path, top, mistakes, limits)
        mistakes.stop_if_any()
        yield top


@contextmanager
def _reported(mistakes: Mistakes, file: str) -> Iterator[None]:
    """Catch an OSError that the ``with`` block raises, and report that `file` cannot be read.

    An OSError caused by a full disk is re-raised.
    """
    try:
        yield
    except OSError as error:
        if error.errno in NO_SPACE:
            raise
        mistakes.add("unreadable", f"cannot be read: {error.strerror}", file=file)


def _unpack(path: Path, folder: Path, mistakes: Mistakes, limits: BundleLimits) -> Path:
    """Extract a zip file, and return the folder that should contain challenge.yaml.

    If all extracted files are in one top-level folder, that folder is returned. Otherwise, the result is ``folder``, to
    which the zip file is extracted.
    """
    if not path.is_file():
        mistakes.add("missing_file", "no such file or folder", file=path.name)
    mistakes.stop_if_any()
    try:
        with ZipFile(path) as archive:
            entries = _checked(archive, path.name, mistakes, limits)
            mistakes.stop_if_any()
            for name, entry in entries.items():
                _extract(archive, entry, folder / name)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError):
        mistakes.add("bad_zip", "is not a readable zip file; create it again", file=path.name)
    mistakes.stop_if_any()
    tops = {name.split("/")[0] for name in entries}
    top = folder / tops.pop() if len(tops) == 1 else folder
    return top if top.is_dir() else folder


def _checked(archive: ZipFile, file: str, mistakes: Mistakes, limits: BundleLimits) -> dict[str, ZipInfo]:
    """Return the zip entries to extract, keyed by file name. Report names, links and sizes that are not allowed."""
    entries = [entry for entry in archive.infolist() if not entry.is_dir() and not is_clutter(entry.filename)]
    files: dict[str, ZipInfo] = {}
    backslashed = [entry.filename for entry in entries if "\\" in entry.filename]
    if backslashed:
        mistakes.add("unsafe_path", BACKSLASHES.format(name=backslashed[0][:80]), file=file)
    for entry in entries[:MAX_ENTRIES]:
        name = PurePosixPath(entry.filename).as_posix()
        if "\\" not in name and (fault := _fault(entry)):
            mistakes.add(*fault, file=file)
        if name in files:
            mistakes.add("bad_zip", f"{name!r} occurs twice in the zip file", file=file)
        files[name] = entry
    for name in files.keys() & {parent.as_posix() for path in files for parent in PurePosixPath(path).parents}:
        mistakes.add("bad_zip", f"{name!r} is both a file and a folder", file=file)
    size, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    allowed = min(limits.decompressed_bytes, max(packed, CHUNK_BYTES) * limits.decompressed_ratio)
    if size > allowed or len(entries) > MAX_ENTRIES:
        shown = f"{limits.decompressed_bytes:,} bytes, {limits.decompressed_ratio} : 1, {MAX_ENTRIES:,} files"
        message = f"exceeds the limits of a bundle when it is unpacked ({shown}); {KEEP_LESS}"
        mistakes.add("too_large", message, file=file)
    return files


def _fault(entry: ZipInfo) -> tuple[str, str] | None:
    name, path = entry.filename, PurePosixPath(entry.filename)
    leaves = path.is_absolute() or ".." in path.parts or ":" in name or "\0" in entry.orig_filename
    if leaves or not path.parts or not is_short(name):
        return "unsafe_path", f"{name[:80]!r} is too long, or is not a path inside the bundle"
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "unsafe_path", f"{name!r} is a link or a device; replace it with the file itself"
    if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        return "bad_zip", f"{name!r} is encrypted or uses an unsupported compression method; use an ordinary zip file"
    return None


def _extract(archive: ZipFile, entry: ZipInfo, target: Path) -> None:
    """Extract one file of a zip archive. `zipfile` reads no more than the declared size, which has been checked."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, target.open("xb") as copy:
        while chunk := source.read(CHUNK_BYTES):
            copy.write(chunk)
