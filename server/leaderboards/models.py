"""Current and past leaderboards: each entry with the period during which it was valid."""

from datetime import datetime
from math import inf

from django.db import models
from django.db.models import F, Q

from server.challenges.models import Phase, Team
from server.clock import midnight
from server.submissions.models import Evaluation, Leased


class Board(models.Model):
    """A leaderboard of a phase: the entries of one kind, such as public, for scores with one evaluation signature.

    A signature names the track, its parameters, the ground truth and the evaluator version. Transactions lock the row
    of a leaderboard after the rows of teams, submissions and comparisons, and before the audit log's `Head`.
    """

    class Kind(models.TextChoices):
        PUBLIC = "public", "public"
        PUBLISHED = "published", "public, under ladder feedback"
        PRIVATE = "private", "private"
        ALL = "all", "all images"

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="boards")
    kind = models.CharField(max_length=10, choices=Kind)
    signature = models.CharField(max_length=400)
    version = models.PositiveBigIntegerField(
        default=0, help_text="increases whenever the content of the leaderboard changes"
    )
    listed = models.PositiveIntegerField(default=0, help_text="number of current entries, including baselines")
    ranked = models.PositiveIntegerField(default=0, help_text="number of current entries, excluding baselines")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("phase", "signature", "kind"), name="one_board_of_a_kind"),)

    def __str__(self) -> str:
        return f"{self.phase} {self.kind}"


class EntryQuerySet(models.QuerySet["Entry"]):
    def present(self) -> "EntryQuerySet":
        return self.filter(valid_until=None)

    def at(self, moment: datetime) -> "EntryQuerySet":
        """Return the versions of leaderboard entries that were valid at the given time."""
        return self.filter(Q(valid_until__gt=moment) | Q(valid_until=None), valid_from__lte=moment)

    def in_order(self) -> "EntryQuerySet":
        """Sort by score (highest first), then by time and team. The index of current entries has the same order."""
        return self.order_by("-score", "submitted_at", "team_id")

    def before(self, *, score: float, submitted_at: datetime, team: int) -> "EntryQuerySet":
        """Return the entries that are listed above an entry with the given score, submission time and team."""
        earlier = Q(submitted_at__lt=submitted_at) | Q(submitted_at=submitted_at, team__lt=team)
        # The condition `score__gte` is redundant, but with it, databases read only the matching part of an index.
        return self.filter(Q(score__gte=score) & (Q(score__gt=score) | earlier))


class Entry(models.Model):
    """One version of a team's entry on a leaderboard.

    Only `valid_until` and `submissions` are updated later, and `evaluation` becomes null if the evaluation is removed.
    """

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="entries", db_index=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="entries", db_index=False)
    is_baseline = models.BooleanField()
    evaluation = models.ForeignKey(
        Evaluation, null=True, on_delete=models.SET_NULL, related_name="entries", help_text="empty if it was removed"
    )
    score = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    submitted_at = models.DateTimeField()
    submissions = models.PositiveIntegerField(
        help_text="number of the team's scored submissions; not part of the history"
    )
    valid_from = models.DateTimeField()
    valid_until = models.DateTimeField(null=True, help_text="empty for a current entry")

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
                # `valid_until` is always null in this index. If the index did not contain it, SQLite would read each
                # entry from the table to check the condition `valid_until IS NULL`.
                F("valid_until"),
                condition=Q(valid_until=None),
                name="present_entry_in_order",
            ),
            # This index is for queries of past entries. If its column for the score came before `valid_from`, SQLite
            # would also use this index for queries of current entries.
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
            models.Index(fields=("team", "board", "valid_from"), name="entries_of_team"),
            # `event_days` uses this index to find, one by one, the days on which an entry was replaced or removed.
            models.Index(fields=("board", "valid_until"), condition=Q(valid_until__isnull=False), name="entry_ends"),
        )

    def __str__(self) -> str:
        return f"{self.team_id} {self.score}"


class MetricValue(models.Model):
    """The value of a metric other than the headline metric for a current entry. Leaderboards can be sorted by it."""

    UNDEFINED = -inf  # Unlike null, minus infinity is the lowest value in every database, so it is sorted last.

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="+", db_index=False)
    entry = models.ForeignKey(Entry, on_delete=models.CASCADE, related_name="values", db_index=False)
    metric = models.CharField(max_length=60)
    value = models.FloatField(help_text="minus infinity if undefined")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("entry", "metric"), name="one_value_of_a_metric"),)
        indexes = (models.Index(F("board"), F("metric"), F("value").desc(), F("entry"), name="values_in_order"),)

    def __str__(self) -> str:
        return f"{self.entry_id} {self.metric} {self.value}"


class ComparisonQuerySet(models.QuerySet["Comparison"]):
    def due(self, now: datetime) -> "ComparisonQuerySet":
        """Return the comparisons that a worker may claim now, for the leaderboards that phases currently show.

        A comparison is a job that compares the entries of a leaderboard with each other. It is due after each change of
        the leaderboard. On a public leaderboard, it is also due once a day, because its scores are compared with those
        from a week ago. A comparison can be claimed if no worker holds it or the worker's lease has expired, and
        if its `not_before` time, if any, has passed.
        """
        another_day = Q(day=None) | Q(day__lt=midnight(now).date(), board__kind=Board.Kind.PUBLIC)
        shown = self.filter(board__signature=F("board__phase__signature"))
        outdated = shown.filter(~Q(version=F("board__version")) | another_day)
        free = outdated.filter(Q(lease_token=None) | Q(lease_until__lt=now))
        return free.filter(Q(not_before=None) | Q(not_before__lte=now))

    def current(self) -> "ComparisonQuerySet":
        """Return successful comparisons of leaderboards that have not changed since their entries were compared."""
        return self.filter(version=F("board__version"), failure="").select_related("board__phase")


class Comparison(Leased):
    """The pairwise comparison of all entries on a leaderboard, which a worker repeats after each change."""

    board = models.OneToOneField(Board, primary_key=True, on_delete=models.CASCADE, related_name="comparison")
    version = models.PositiveBigIntegerField(default=0, help_text="version of the leaderboard that was last compared")
    day = models.DateField(null=True, help_text="the day (UTC) of the last complete comparison")
    content = models.CharField(max_length=64, blank=True, help_text="hash of the entries in the last comparison")
    enqueued_at = models.DateTimeField(
        null=True, help_text="when the comparison became due, or when it was last queued as urgent"
    )
    not_before = models.DateTimeField(null=True, help_text="when the next attempt may begin; empty if it may begin now")
    attempts = models.PositiveSmallIntegerField(default=0)
    failure = models.CharField(
        max_length=300, blank=True, help_text="why the comparison of the last version was abandoned"
    )

    objects = ComparisonQuerySet.as_manager()

    def __str__(self) -> str:
        return f"comparison of {self.board}"


class ComparedEntry(models.Model):
    """The result of comparing a current entry with others. Intervals are null if bootstrap replicates are missing."""

    entry = models.OneToOneField(Entry, primary_key=True, on_delete=models.CASCADE, related_name="compared")
    compared_with = models.BigIntegerField(null=True, help_text="the first entry of the tie group above this entry")
    tied = models.BooleanField(null=True, help_text="whether this entry belongs to that tie group; empty if unknown")
    next_up = models.BigIntegerField(null=True, help_text="the nearest entry of a team with a higher score")
    next_up_tied = models.BooleanField(null=True, help_text="whether the difference from that entry is not significant")
    earlier = models.BigIntegerField(null=True, help_text="the evaluation of the team's entry a week ago")
    gain_low = models.FloatField(
        null=True, help_text="lower end of the interval of the difference from that evaluation"
    )
    gain_high = models.FloatField(null=True)
    rank_low = models.PositiveIntegerField(null=True)
    rank_high = models.PositiveIntegerField(null=True)
    is_individual = models.BooleanField(
        default=False, help_text="whether the confidence of the rank interval applies to this entry alone"
    )
    ranked_at = models.DateTimeField(null=True, help_text="when the rank interval was computed")

    class Meta:
        verbose_name_plural = "compared entries"
        constraints = (
            models.CheckConstraint(
                name="rank_interval_is_whole",
                condition=Q(rank_low=None, rank_high=None, ranked_at=None)
                | Q(rank_low__gte=1, rank_high__gte=F("rank_low"), ranked_at__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.entry_id} {self.rank_low}–{self.rank_high}"


class BoardTerms(models.Model):
    """The evaluation signature and feedback settings that apply to a phase's leaderboards from the time `since` onward.

    A signature names the track, its parameters, the ground truth and the evaluator version that produced a score.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="board_terms")
    since = models.DateTimeField()
    signature = models.CharField(max_length=400, blank=True)
    finals = models.PositiveSmallIntegerField()
    ladder = models.BooleanField()
    decimals = models.PositiveSmallIntegerField(null=True)
    freeze_at = models.DateTimeField(null=True)
    reconstructed = models.BooleanField(
        default=False, help_text="whether the entries of this time were reconstructed from evaluations"
    )

    class Meta:
        verbose_name_plural = "board terms"
        indexes = (models.Index(fields=("phase", "-since", "-id"), name="terms_at"),)

    def __str__(self) -> str:
        return f"{self.phase} since {self.since}"
