"""The storage backend for files in an S3-compatible object store. It is loaded only if STORAGE_URL is set."""

import io
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from errno import ENOENT, ENOSPC
from functools import lru_cache
from hashlib import file_digest
from pathlib import PurePosixPath
from secrets import token_hex
from typing import Any

import boto3
from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files import File
from storages.backends.s3 import S3Storage

from server.stored_files.address import REGION, ObjectStore
from server.stored_files.failures import StoreUnavailable
from server.stored_files.reading import Body, ObjectReader, StoredObject

log = logging.getLogger(__name__)

DIGEST = "sha256"  # Key in an object's metadata. Its value is the sha256 of the content.
BUFFER_BYTES = 2**20
# Without threads, the parts of an upload are sent one after the other, so only one part at a time is in memory.
TRANSFER = TransferConfig(multipart_threshold=8 * 2**20, multipart_chunksize=8 * 2**20, use_threads=False)
FULL_CODES = {"XMinioStorageFull", "QuotaExceeded", "InsufficientStorage", "InsufficientCapacity"}
NOT_FOUND, FULL = 404, 507
# A large file is copied inside the object store in parts, so that no request takes longer than the timeout.
COPY = TransferConfig(multipart_threshold=64 * 2**20, multipart_chunksize=64 * 2**20, use_threads=False)
# A check must not occupy a thread of the web process for long if the object store does not respond.
CHECK = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1, "mode": "standard"})
STRANGER = Config(signature_version=UNSIGNED)


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a folder of the storage. `name` is relative to the folder."""

    name: str
    size: int
    modified_at: datetime


@lru_cache(maxsize=8)
def connected(store: ObjectStore, process: int, changes: Config | None = None) -> Any:
    """Return the connection to an object store for the process with the id `process`.

    The connection is cached per process, because a child process must not use its parent's connection. Checksums that
    only Amazon's servers support are disabled. The sha256 in the metadata of an object is verified instead.
    """
    config = Config(
        connect_timeout=5,
        read_timeout=30,
        retries={"total_max_attempts": 2, "mode": "standard"},
        max_pool_connections=32,
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        s3={"addressing_style": "path"},
    )
    session = boto3.Session(aws_access_key_id=store.access_key, aws_secret_access_key=store.secret_key)
    return session.resource(
        "s3",
        region_name=store.region,
        endpoint_url=store.endpoint,
        verify=store.ca or None,
        config=config.merge(changes) if changes else config,
    )


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Convert the errors of the S3 libraries to OSErrors, such as FileNotFoundError, ENOSPC or StoreUnavailable."""
    try:
        yield
    except ClientError as error:
        raise translation(error, name) from error
    except (BotoCoreError, Boto3Error) as error:
        raise StoreUnavailable(f"the object storage does not respond ({type(error).__name__})") from error


def translation(error: ClientError, name: str) -> OSError:
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    if code == "NoSuchBucket":
        return StoreUnavailable("the bucket does not exist")
    if status == NOT_FOUND:
        return FileNotFoundError(ENOENT, os.strerror(ENOENT), name)
    if status == FULL or code in FULL_CODES:
        return OSError(ENOSPC, os.strerror(ENOSPC))
    return StoreUnavailable(f"the object storage refused a request ({code})")


class ObjectStorage(S3Storage):
    """A storage backend for the files in one folder of the configured bucket.

    The metadata of each object contains its sha256. Objects have neither an ACL nor a public URL, so only the owner of
    the bucket can read them.
    """

    def __init__(self, *, folder: str) -> None:
        # An ObjectStorage is created only if STORAGE_URL configures an object store.
        assert settings.OBJECT_STORE is not None
        self.store = settings.OBJECT_STORE
        super().__init__(
            access_key=self.store.access_key,
            secret_key=self.store.secret_key,
            security_token=None,
            session_profile=None,
            bucket_name=self.store.bucket,
            location=folder,
            default_acl=None,
            file_overwrite=True,
            transfer_config=TRANSFER,
        )

    @property
    def connection(self) -> Any:
        return connected(self.store, os.getpid())

    @property
    def bucket(self) -> Any:
        return self.connection.Bucket(self.bucket_name)

    @property
    def client(self) -> Any:
        return self.connection.meta.client

    @property
    def title(self) -> str:
        """The URL of the folder, without secrets, for messages and logs."""
        return f"{self.store.title}/{self.location}"

    def generate_filename(self, filename: str) -> str:
        """Return a name that no other file has, so that two uploads at the same time never replace each other."""
        path = PurePosixPath(super().generate_filename(filename))
        return str(path.with_name(f"{token_hex(8)}-{path.name}"))

    def head(self, name: str) -> StoredObject:
        """Return the size, sha256 and ETag of a stored file. Raises FileNotFoundError or StoreUnavailable."""
        with translated(name):
            found = self.client.head_object(Bucket=self.bucket_name, Key=self._normalize_name(name))
        return StoredObject(found["ContentLength"], found["Metadata"].get(DIGEST, ""), found["ETag"])

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        if mode != "rb":
            raise ValueError(f"{name} is read-only")
        found = self.head(name)

        def request(offset: int) -> Body:
            where = {"Bucket": self.bucket_name, "Key": self._normalize_name(name), "IfMatch": found.etag}
            part = {"Range": f"bytes={offset}-"} if offset else {}
            with translated(name):
                return TranslatedBody(self.client.get_object(**where, **part)["Body"], name)

        return File(io.BufferedReader(ObjectReader(request, found.size), BUFFER_BYTES), name)

    def _save(self, name: str, content: "File[bytes]") -> str:
        with translated(name):
            return str(super()._save(name, content))

    def _get_write_parameters(self, name: str, content: "File[bytes]") -> dict[str, Any]:
        return {"ContentType": "application/octet-stream", "Metadata": {DIGEST: digest_of(content)}}

    def delete(self, name: str) -> None:
        """Delete a file. If this fails, only log an alarm, because no database row refers to the file any longer."""
        try:
            with translated(name):
                super().delete(name)
        except OSError as error:
            log.error("alarm: %s cannot be removed from %s: %s", name, self.title, error.strerror)

    def exists(self, name: str) -> bool:
        try:
            self.head(name)
        except FileNotFoundError:
            return False
        return True

    def size(self, name: str) -> int:
        return self.head(name).size

    def url(self, name: str, *about: object, **more: object) -> str:
        """Return the URL that a storage backend on disk would return. No file can be downloaded from this URL."""
        return f"{settings.MEDIA_URL}{name}"

    def listed(self, folder: str) -> Iterator[list[Listed]]:
        """Yield the objects of a folder in batches of at most 1,000. Objects in its subfolders are left out."""
        prefix = self._normalize_name(folder).rstrip("/") + "/"
        with translated(folder):
            for page in self._pages(prefix):
                yield [
                    Listed(one["Key"].removeprefix(prefix), one["Size"], one["LastModified"])
                    for one in page.get("Contents", ())
                ]

    def folders(self, folder: str) -> list[str]:
        """Return the names of the subfolders of a folder."""
        prefix = self._normalize_name(folder).rstrip("/") + "/"
        with translated(folder):
            found = [one["Prefix"] for page in self._pages(prefix) for one in page.get("CommonPrefixes", ())]
        return [one.removeprefix(prefix).rstrip("/") for one in found]

    def _pages(self, prefix: str) -> Any:
        pages = self.client.get_paginator("list_objects_v2")
        return pages.paginate(Bucket=self.bucket_name, Delimiter="/", Prefix=prefix)

    def move(self, source: str, target: str) -> None:
        """Rename a file: copy it inside the storage, then delete the original."""
        where = {"Bucket": self.bucket_name, "Key": self._normalize_name(source)}
        # A multipart copy in an object store does not include the metadata, so the metadata must be passed explicitly.
        extra = {"Metadata": {DIGEST: self.head(source).sha256}, "MetadataDirective": "REPLACE"}
        with translated(source):
            self.client.copy(where, self.bucket_name, self._normalize_name(target), ExtraArgs=extra, Config=COPY)
        self.delete(source)

    def create_bucket(self) -> None:
        """Create the bucket if it does not exist."""
        with translated(""):
            try:
                self.client.head_bucket(Bucket=self.bucket_name)
            except ClientError as error:
                if not isinstance(translation(error, ""), FileNotFoundError):
                    raise
                place = {"LocationConstraint": self.store.region}
                where = {} if self.store.region == REGION else {"CreateBucketConfiguration": place}
                self.client.create_bucket(Bucket=self.bucket_name, **where)

    def check(self) -> None:
        """Raise OSError unless the storage responds and the bucket can be used."""
        with translated(self.bucket_name):
            connected(self.store, os.getpid(), CHECK).meta.client.head_bucket(Bucket=self.bucket_name)

    def is_public(self, name: str) -> bool:
        """Return whether a file can be read without credentials."""
        stranger = connected(self.store, os.getpid(), STRANGER).meta.client
        try:
            with translated(name):
                stranger.get_object(Bucket=self.bucket_name, Key=self._normalize_name(name))["Body"].close()
        except OSError:
            return False
        return True


class TranslatedBody:
    """The body of a response. Reading it raises StoreUnavailable if the response is cut off."""

    def __init__(self, body: Any, name: str) -> None:
        self.body, self.name = body, name

    def read(self, amount: int) -> bytes:
        with translated(self.name):
            return bytes(self.body.read(amount))

    def close(self) -> None:
        self.body.close()


def digest_of(content: "File[bytes]") -> str:
    """Return the sha256 of a file's content. The sha256 of an upload was already computed while it was received."""
    known = getattr(content, "sha256", "")
    if known:
        return str(known)
    content.seek(0)
    return file_digest(content, "sha256").hexdigest()
