"""The ledger of the quota that submissions have used."""

from django.db import models
from django.db.models import Q

from server.challenges.models import Phase, Team
from server.submissions.models.submission import Submission


class QuotaEntry(models.Model):
    """An entry of a team's ledger: +1 when a submission is accepted, -1 when its quota is given back."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="quota_entries")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="quota_entries")
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="quota_entries")
    amount = models.SmallIntegerField()
    reason = models.CharField(max_length=20)
    day = models.DateField(help_text="the day (UTC) whose quota the entry changes")
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "quota entries"
        ordering = ("at", "pk")
        indexes = (models.Index(fields=("phase", "team", "day"), name="quota_of_team_and_day"),)
        constraints = (
            models.CheckConstraint(name="quota_entry_is_one", condition=Q(amount__in=(1, -1))),
            models.UniqueConstraint(fields=("submission", "amount"), name="charged_once_and_given_back_once"),
        )

    def __str__(self) -> str:
        return f"{self.amount:+d} {self.reason}"
