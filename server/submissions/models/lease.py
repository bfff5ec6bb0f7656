"""The lease of a job: which worker holds it, and until when. `services.leases` defines the rules."""

from django.db import models


class Leased(models.Model):
    """A job that at most one worker holds at a time.

    The fields `lease_token` and `lease_until` are empty while no worker holds the job.
    """

    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    host = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="the host of the worker that holds or last held the job",
    )

    class Meta:
        abstract = True
