"""Merges versions of a ground truth with equal content.

Rescoring from one such version to another gave each submission two evaluations, and the leaderboards counted both.
"""

from django.db import migrations
from django.db.models import Count


def merge(apps, schema_editor):
    """Merge a submission's evaluations with the same signature, and a phase's ground truths with the same sha256."""
    mark_used(apps.get_model("challenges", "Truth"))
    merge_evaluations(apps.get_model("submissions", "Evaluation"), apps.get_model("submissions", "Explanation"))
    merge_truths(*(apps.get_model(*name) for name in MODELS))


MODELS = (
    ("challenges", "Truth"),
    ("submissions", "Evaluation"),
    ("submissions", "Rerun"),
    ("organize", "Rescoring"),
)


def mark_used(Truth):
    """Mark versions of ground truths as used: active versions, earlier ones, and those used by applied rescorings.

    By default, a rescoring does not choose a used version.
    """
    active = dict(Truth.objects.filter(active=True).values_list("phase", "version"))
    for phase, version in active.items():
        Truth.objects.filter(phase=phase, version__lte=version).update(used=True)
    applied = Truth.objects.filter(rescorings__applied_at__isnull=False).values("pk")
    Truth.objects.filter(pk__in=list(applied.values_list("pk", flat=True))).update(used=True)


def merge_evaluations(Evaluation, Explanation):
    """Keep one evaluation for each submission and evaluation signature, preferably one with bootstrap replicates.

    Under ladder feedback, `published` refers to the evaluation whose score participants see. If it is only set in a
    duplicate, it is copied to the evaluation that is kept.
    """
    several = Evaluation.objects.values("submission", "signature").annotate(count=Count("pk")).filter(count__gt=1)
    for group in several.order_by("submission", "signature"):
        found = Evaluation.objects.filter(submission=group["submission"], signature=group["signature"])
        counted = found.annotate(vectors=Count("replicates", distinct=True)).order_by("-vectors", "created_at", "pk")
        kept, *others = counted.values_list("pk", flat=True)
        if not Explanation.objects.filter(evaluation=kept).exists():
            move_explanations(Explanation, kept, others)
        decided = found.exclude(published=None).order_by("created_at", "pk").values_list("published", flat=True).first()
        Evaluation.objects.filter(pk=kept, published=None).update(published=decided)
        Evaluation.objects.filter(published__in=others).update(published=kept)
        Evaluation.objects.filter(pk__in=others).delete()


def move_explanations(Explanation, kept, others):
    source = Explanation.objects.filter(evaluation__in=others).values_list("evaluation", flat=True).first()
    Explanation.objects.filter(evaluation=source).update(evaluation=kept)


def merge_truths(Truth, Evaluation, Rerun, Rescoring):
    """Merge a phase's ground truths with the same sha256. Keep the active version or, if none is active, the newest.

    The sweeper (a periodic task) moves the files of the removed versions to quarantine.
    """
    several = Truth.objects.values("phase", "sha256").annotate(count=Count("pk")).filter(count__gt=1)
    for group in several.order_by("phase", "sha256"):
        found = Truth.objects.filter(phase=group["phase"], sha256=group["sha256"])
        kept, *others = found.order_by("-active", "-version").values_list("pk", flat=True)
        if found.filter(used=True).exists():
            found.filter(pk=kept).update(used=True)
        for other in others:
            wanted = Rerun.objects.filter(truth=other)
            for rerun in wanted:
                if not Rerun.objects.filter(submission=rerun.submission_id, truth=kept, purpose=rerun.purpose).exists():
                    Rerun.objects.filter(pk=rerun.pk).update(truth=kept)
            Evaluation.objects.filter(truth=other).update(truth=kept)
            Rescoring.objects.filter(truth=other).update(truth=kept)
            Truth.objects.filter(pk=other).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("challenges", "0013_truth_used"),
        ("submissions", "0009_rerun_leased"),
        ("organize", "0001_rescoring"),
    ]

    operations = [migrations.RunPython(merge, migrations.RunPython.noop)]
