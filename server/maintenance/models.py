"""The database model for maintenance mode. While it is on, requests that change data are refused."""

from django.db import models


class Maintenance(models.Model):
    """The reason and the expected end of the current maintenance. The row exists only while the mode is on."""

    ONLY = 1  # the primary key of the table's only row

    started_at = models.DateTimeField()
    until = models.DateTimeField(help_text="when it is expected to end; it does not end automatically")
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = (models.CheckConstraint(name="one_maintenance", condition=models.Q(pk=1)),)

    def __str__(self) -> str:
        return f"until {self.until}"
