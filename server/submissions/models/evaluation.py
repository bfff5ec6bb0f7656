"""Results of scoring: evaluations with their scores, bootstrap replicates and explanations."""

import struct

from django.db import models
from django.db.models import F, Q

from server.challenges.models import Truth
from server.submissions.models.submission import Submission

# A foreign key has `db_index=False` here if a unique constraint begins with it. The index of the constraint also serves
# queries for the foreign key alone, and a second index would be updated whenever a score is recorded.

PUBLISHED_HELP = "under ladder feedback, the evaluation whose public scores are shown; empty until this is decided"


class Evaluation(models.Model):
    """One scoring of a submission against one version of the ground truth, by one version of the evaluator."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="evaluations", db_index=False)
    truth = models.ForeignKey(Truth, on_delete=models.PROTECT, related_name="evaluations")
    evaluator_version = models.CharField(max_length=20)
    signature = models.CharField(max_length=400)
    report = models.JSONField(help_text="results per class and notices; not used for leaderboards")
    cpu_seconds = models.FloatField()
    published = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="+", help_text=PUBLISHED_HELP
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            # Evaluations of a submission with the same signature (ground truth, parameters and evaluator version) have
            # equal scores, so one of them is enough.
            models.UniqueConstraint(fields=("submission", "signature"), name="one_evaluation_per_signature"),
        )
        indexes = (models.Index(fields=("signature", "submission"), name="evaluation_on_board"),)

    def __str__(self) -> str:
        return f"{self.submission_id} {self.signature}"

    @property
    def is_published(self) -> bool:
        """Whether participants see the scores of this evaluation under ladder feedback; see `is_visible`."""
        return self.published_id == self.pk


def is_visible(ladders: list[int]) -> Q:
    """Return a query condition for the scores that participants may see.

    `ladders` are the ids of the phases in which the viewer gets ladder feedback. In these phases, a score is hidden
    until it has been decided whether to show it. It remains hidden if the team's best scores are shown instead. In all
    other phases, every score is visible.
    """
    published = Q(evaluation__published=F("evaluation"))
    return published | ~Q(evaluation__submission__phase__in=ladders)


class ScoreQuerySet(models.QuerySet["Score"]):
    def visible(self, *, ladders: list[int]) -> "ScoreQuerySet":
        """Return the scores that participants may see; see `is_visible`."""
        return self.filter(is_visible(ladders))

    def with_visible(self, *, ladders: list[int]) -> "ScoreQuerySet":
        """Annotate each score with `visible`, which is true if participants may see the score; see `is_visible`."""
        return self.annotate(visible=is_visible(ladders))


class Score(models.Model):
    """The value of one metric on one split.

    Leaderboards are sorted by the column `value`, which is faster than a key in JSON.
    """

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="scores", db_index=False)
    split = models.CharField(max_length=10)
    metric = models.CharField(max_length=60)
    value = models.FloatField(null=True, help_text="empty if undefined")
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)

    objects = ScoreQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("evaluation", "split", "metric"), name="one_score_per_split_and_metric"),
            models.CheckConstraint(name="score_split_is_known", condition=Q(split__in=("all", "public", "private"))),
            models.CheckConstraint(
                name="score_interval_has_two_ends",
                condition=Q(low=None, high=None) | Q(low__isnull=False, high__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.split} {self.metric} {self.value}"


class Replicates(models.Model):
    """The bootstrap replicates of a headline score: its values for random samples of the split's images.

    Leaderboard queries never load them.
    """

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="replicates", db_index=False)
    split = models.CharField(max_length=10)
    seed = models.BigIntegerField()
    count = models.PositiveIntegerField()
    values = models.BinaryField(help_text="little-endian float64 values; NaN if undefined in a replicate")

    class Meta:
        verbose_name_plural = "replicates"
        constraints = (models.UniqueConstraint(fields=("evaluation", "split"), name="one_vector_per_split"),)

    def __str__(self) -> str:
        return f"{self.evaluation_id} {self.split}"

    @property
    def vector(self) -> tuple[float, ...]:
        return struct.unpack(f"<{self.count}d", self.values)


class Explanation(models.Model):
    """The explanation of a score on one split, such as curves and error tables. Leaderboard queries never load it."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="explanations", db_index=False)
    split = models.CharField(max_length=10)
    content = models.BinaryField(help_text="compressed JSON with the keys classes, tables, left_out and curves")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("evaluation", "split"), name="one_explanation_per_split"),)

    def __str__(self) -> str:
        return f"{self.evaluation_id} {self.split}"
