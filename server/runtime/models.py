"""The id of the installation and the fingerprints of its secret keys.

Each part of the service uses them to check that its database, storage, Redis and keys belong to the same installation.
"""

from django.db import models


class Installation(models.Model):
    """The id of this installation, as a single row that a migration creates.

    A backup contains the row, so that a restored installation keeps its id.
    """

    key = models.CharField(max_length=32)
    has_storage = models.BooleanField(default=False, help_text="whether the id was written into the storage")

    def __str__(self) -> str:
        return self.key[:8]


class SharedKey(models.Model):
    """The fingerprint of a secret key that must be the same on all hosts."""

    name = models.CharField(max_length=20, unique=True, help_text="name of the setting")
    fingerprint = models.CharField(max_length=16)

    def __str__(self) -> str:
        return self.name
