"""The maintenance mode: while it is on, requests that change something are refused."""

from django.db import models


class Maintenance(models.Model):
    """The current maintenance, as a row that exists only while the mode is on."""

    ONLY = 1  # the primary key of the row

    started_at = models.DateTimeField()
    until = models.DateTimeField(help_text="when it is expected to end; it ends only when somebody ends it")
    reason = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = (models.CheckConstraint(name="one_maintenance", condition=models.Q(pk=1)),)

    def __str__(self) -> str:
        return f"until {self.until}"
