"""Checks at startup that the service's database, storage and broker belong to the same installation.

The id of the installation is stored in a row of the database, in a file in each storage backend, and under a key in
Redis.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, default_storage
from redis import Redis

from server.challenges.truth_storage import storages
from server.runtime.environment import without_password
from server.runtime.home import NotAvailable, NotStarted
from server.runtime.models import Installation
from server.stored_files.copies import in_objects, title_of
from server.stored_files.failures import StoreUnavailable

# Path of the file in each storage backend that contains the installation's id. The file is in its own subfolder,
# because files without a database row are moved from the other folders to quarantine.
FILE = "installation/id"
BROKER_KEY = "podium:installation"
WRONG_CONFIGURATION = 78


class WrongInstallation(NotStarted):
    """Raised if the database belongs to one installation, and the storage or the broker to another."""

    returncode = WRONG_CONFIGURATION


def check_storages(*, first: bool) -> None:
    """Raise WrongInstallation unless both storage backends contain the id of this installation.

    If `first` is true (in the web part, which starts first) and the installation has not used its storage yet, the id
    is written to both backends. If the id is missing later, the storage is probably not mounted.
    """
    installation = Installation.objects.get()
    is_new = first and not installation.has_storage
    with explained():
        prepare_bucket(is_new=is_new)
        for storage in storages().values():
            check_storage(storage, installation, is_new=is_new)
        refuse_public()
    if is_new:
        Installation.objects.update(has_storage=True)


@contextmanager
def explained() -> Iterator[None]:
    """Raise NotAvailable with the reason if the object store cannot be used in the `with` block."""
    try:
        yield
    except StoreUnavailable as error:
        advice = "Start the storage, or correct its address, the key pair or the permissions of the key pair."
        shown = f"STORAGE_URL={title_of(default_storage)} cannot be used"
        raise NotAvailable(f"{shown}: {error.strerror}. {advice}") from error


def prepare_bucket(*, is_new: bool) -> None:
    """Create the bucket of the object store, if one is configured and this is the first start."""
    if is_new and settings.OBJECT_STORE:
        in_objects(default_storage).create_bucket()


def refuse_public() -> None:
    """Raise NotStarted if anybody can read the bucket of the object store, which contains the hidden ground truth."""
    if not settings.OBJECT_STORE:
        return
    for storage in storages().values():
        if in_objects(storage).is_public(FILE):
            advice = "Remove the bucket policy or ACL that allows this."
            raise NotStarted(f"Anyone can read {title_of(storage)}, which contains hidden ground truth. {advice}")


def check_storage(storage: Storage, installation: Installation, *, is_new: bool) -> None:
    key, found = installation.key, read_id(storage)
    location, setting = title_of(storage), "STORAGE_URL" if settings.OBJECT_STORE else "PODIUM_HOME"
    if found == key:
        return
    if found:
        raise WrongInstallation(
            f"The files in {location} belong to the installation {found[:8]}, but the database belongs to {key[:8]}. "
            f"Correct DATABASE_URL or {setting}, or restore the database and the files of the same installation."
        )
    if not is_new:
        raise WrongInstallation(
            f"{location} is not the storage of the installation {key[:8]}: it has no file {FILE}. Mount the storage. "
            f"If its files are lost, create this file with the content {key}."
        )
    storage.save(FILE, ContentFile(key.encode()))


def read_id(storage: Storage) -> str:
    """Return the id in a storage backend, or an empty string if there is none."""
    try:
        with storage.open(FILE) as file:
            return bytes(file.read()).decode(errors="replace").strip()
    except FileNotFoundError:
        return ""


def check_broker(url: str, *, first: bool = True) -> None:
    """Raise WrongInstallation if this Redis is used by another installation.

    If `first` is true, an unused Redis is marked as used by this installation.
    """
    key = Installation.objects.get().key
    with Redis.from_url(url) as redis:
        if first:
            redis.set(BROKER_KEY, key, nx=True)
        found = (redis.get(BROKER_KEY) or b"").decode(errors="replace")
    if found not in ("", key):
        raise WrongInstallation(
            f"REDIS_URL={without_password(url)} belongs to the installation {found[:8]}, but the database belongs to "
            f"{key[:8]}. Correct REDIS_URL or DATABASE_URL, or use another database number in REDIS_URL. If the other "
            f"installation no longer exists, remove the key {BROKER_KEY} from Redis."
        )
