"""The lease of a job: which worker holds it, and until when. `services.leases` has the rules."""

from django.db import models


class Leased(models.Model):
    """A job that at most one worker holds at a time. Both fields are empty while no worker holds the job."""

    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
