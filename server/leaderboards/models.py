"""Leaderboards as they are and as they were: entries with the time in which they were valid."""

from datetime import datetime

from django.db import models
from django.db.models import F, Q

from server.challenges.models import Phase, Team
from server.submissions.models import Evaluation


class Board(models.Model):
    """The leaderboard of one phase, kind and signature.

    Rows of boards are locked after those of teams and submissions, and before the head of the audit log.
    """

    class Kind(models.TextChoices):
        PUBLIC = "public", "public"
        PUBLISHED = "published", "public, as the ladder shows it"
        PRIVATE = "private", "private"
        ALL = "all", "all images"

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="boards")
    kind = models.CharField(max_length=10, choices=Kind)
    signature = models.CharField(max_length=400)
    version = models.PositiveBigIntegerField(default=0, help_text="raised whenever its content changes")
    listed = models.PositiveIntegerField(default=0, help_text="number of present entries, with baselines")
    ranked = models.PositiveIntegerField(default=0, help_text="number of present entries, without baselines")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("phase", "signature", "kind"), name="one_board_of_a_kind"),)

    def __str__(self) -> str:
        return f"{self.phase} {self.kind}"


class EntryQuerySet(models.QuerySet["Entry"]):
    def present(self) -> "EntryQuerySet":
        return self.filter(valid_until=None)

    def at(self, moment: datetime) -> "EntryQuerySet":
        """Return the versions that were valid at a time."""
        return self.filter(Q(valid_until=None) | Q(valid_until__gt=moment), valid_from__lte=moment)

    def in_order(self) -> "EntryQuerySet":
        """Sort by score, best first, then by time and team. The index of present entries has the same order."""
        return self.order_by("-score", "submitted_at", "team_id")

    def before(self, entry: "Entry") -> "EntryQuerySet":
        """Return what is listed before an entry of the same board."""
        earlier = Q(submitted_at__lt=entry.submitted_at) | Q(submitted_at=entry.submitted_at, team__lt=entry.team_id)
        return self.filter(Q(score__gt=entry.score) | (Q(score=entry.score) & earlier))

    def after(self, entry: "Entry") -> "EntryQuerySet":
        """Return what is listed after an entry of the same board."""
        later = Q(submitted_at__gt=entry.submitted_at) | Q(submitted_at=entry.submitted_at, team__gt=entry.team_id)
        return self.filter(Q(score__lt=entry.score) | (Q(score=entry.score) & later))


class Entry(models.Model):
    """One version of a team's entry on a leaderboard. Only `valid_until` and `submissions` ever change."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="entries")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="entries")
    is_baseline = models.BooleanField()
    evaluation = models.ForeignKey(
        Evaluation, null=True, on_delete=models.SET_NULL, related_name="entries", help_text="empty: it was removed"
    )
    score = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    submitted_at = models.DateTimeField()
    submissions = models.PositiveIntegerField(help_text="scored ones of the team; not part of the history")
    valid_from = models.DateTimeField()
    valid_until = models.DateTimeField(null=True, help_text="empty: at present")

    objects = EntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "entries"
        constraints = (
            models.UniqueConstraint(fields=("board", "team"), condition=Q(valid_until=None), name="one_present_entry"),
            models.CheckConstraint(
                name="entry_ends_after_it_began",
                condition=Q(valid_until=None) | Q(valid_until__gte=F("valid_from")),
            ),
        )
        indexes = (
            models.Index(
                F("board"),
                F("score").desc(),
                F("submitted_at"),
                F("team"),
                F("is_baseline"),
                condition=Q(valid_until=None),
                name="entry_in_order",
            ),
            # The times come first, so that SQLite does not prefer this index for present entries.
            models.Index(
                F("board"),
                F("valid_from"),
                F("valid_until"),
                F("score").desc(),
                F("submitted_at"),
                F("team"),
                F("is_baseline"),
                name="entry_in_history",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team_id} {self.score}"


class BoardTerms(models.Model):
    """What a phase's leaderboards showed from some time on: one signature, and the feedback of that time."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="board_terms")
    since = models.DateTimeField()
    signature = models.CharField(max_length=400, blank=True)
    finals = models.PositiveSmallIntegerField()
    ladder = models.BooleanField()
    decimals = models.PositiveSmallIntegerField(null=True)
    reconstructed = models.BooleanField(
        default=False, help_text="whether the entries of this time were reconstructed from evaluations"
    )

    class Meta:
        verbose_name_plural = "board terms"
        indexes = (models.Index(fields=("phase", "-since", "-id"), name="terms_at"),)

    def __str__(self) -> str:
        return f"{self.phase} since {self.since}"
