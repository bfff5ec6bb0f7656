"""The ledger that records how submissions use quota, and the grants with which organizers raise a team's quota."""

from django.db import models
from django.db.models import Q

from server.challenges.models import Phase, Team
from server.submissions.models.submission import Submission


class QuotaEntry(models.Model):
    """An entry in the ledger of a team's quota: +1 when a submission is accepted, -1 when its quota is given back."""

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


class QuotaGrant(models.Model):
    """Additional submissions that organizers granted to a team, for one day or, if `day` is empty, in total.

    A grant for a day also raises the total limit. If organizers take back unused submissions, `amount` is reduced, and
    `taken_back` counts the submissions that were taken back.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="quota_grants")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="quota_grants")
    amount = models.PositiveSmallIntegerField()
    day = models.DateField(null=True, help_text="the day (UTC) whose quota the grant raises; empty: the total quota")
    reason = models.CharField(max_length=300)
    granted_at = models.DateTimeField()
    taken_back = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="the number of granted submissions that organizers took back"
    )
    taken_back_at = models.DateTimeField(null=True)
    taken_back_reason = models.CharField(max_length=300, blank=True, default="", db_default="")

    class Meta:
        ordering = ("granted_at", "pk")
        indexes = (models.Index(fields=("phase", "team", "day"), name="grants_of_team_and_day"),)
        constraints = (
            models.CheckConstraint(
                name="quota_grant_has_been_positive", condition=Q(amount__gte=1) | Q(taken_back__gte=1)
            ),
        )

    def __str__(self) -> str:
        when = f"on {self.day} (UTC)" if self.day else "in total"
        return f"{self.amount} more {when}: {self.reason}"
