"""Creates leaderboard entries for existing scores, with a history that is derived from the times of evaluations.

The audit log shows which evaluation signature (track, parameters, ground truth and evaluator version) each phase used at
which time. Earlier selections of final submissions, confidence intervals and hidden scores (under ladder feedback) were
not recorded, so the current ones are used. Therefore the history before this migration is marked as reconstructed.
"""

from django.db import migrations

from evaluator.catalog import TRACKS
from server.clock import database_now
from server.leaderboards.ranking import Candidate, entry_of

SPLITS = {"public": "public", "published": "public", "private": "private", "all": "all"}
AT_ONCE = 200


def reconstruct(apps, schema_editor):
    now = database_now()
    names = (("leaderboards", "BoardTerms"), ("submissions", "Evaluation"), ("audit", "Entry"))
    for phase in apps.get_model("challenges", "Phase").objects.select_related("challenge").order_by("pk"):
        write_terms(*(apps.get_model(*name) for name in names), phase, now)
        if phase.track in TRACKS:
            write_entries(apps, phase, now)


def write_terms(BoardTerms, Evaluation, Entry, phase, now):
    """Create a `BoardTerms` row for each time at which the evaluation signature of a phase changed, and one for now.

    A signature names the track, its parameters, the ground truth and the evaluator version that produced a score.
    """
    subject = f"phase {phase.challenge.slug}/{phase.slug}"
    applied = Entry.objects.filter(action="rescoring.applied", subject=subject).order_by("number")
    changes = [(entry.at, entry.detail["signature"]) for entry in applied if "signature" in entry.detail]
    common = {"finals": phase.finals, "ladder": phase.feedback == "ladder", "decimals": phase.feedback_decimals}
    first = Evaluation.objects.filter(submission__phase=phase)
    # Before the first change, the phase had the signature (ground truth, parameters and evaluator version) of its first
    # evaluation.
    if changes:
        first = first.filter(created_at__lt=changes[0][0])
    earliest = first.order_by("created_at", "pk").values_list("created_at", "signature").first()
    if earliest is not None:
        signature = earliest[1] if changes else phase.signature
        changes.insert(0, (min(earliest[0], phase.challenge.created_at), signature))
    BoardTerms.objects.bulk_create(
        [BoardTerms(phase=phase, since=at, signature=text, reconstructed=True, **common) for at, text in changes]
        + [BoardTerms(phase=phase, since=now, signature=phase.signature, **common)]
    )


def write_entries(apps, phase, now):
    Submission = apps.get_model("submissions", "Submission")
    teams = Submission.objects.filter(phase=phase, status="scored").order_by("team").values_list("team", flat=True)
    keys = list(teams.distinct())
    boards = {}
    for start in range(0, len(keys), AT_ONCE):
        apps.get_model("leaderboards", "Entry").objects.bulk_create(
            version
            for (signature, team), evaluations in read(apps, phase, keys[start : start + AT_ONCE]).items()
            for version in versions(apps, phase, boards, signature, team, evaluations)
        )
    for board in boards.values():
        present = board.entries.filter(valid_until=None)
        board.version, board.listed = 1, present.count()
        board.ranked = present.filter(is_baseline=False).count()
        board.save()


def read(apps, phase, teams):
    """Return the evaluations of some teams with their headline scores by split, keyed by signature and team.

    A signature names the track, its parameters, the ground truth and the evaluator version that produced a score.
    """
    scores = apps.get_model("submissions", "Score").objects.filter(
        metric=TRACKS[phase.track].headline,
        evaluation__submission__phase=phase,
        evaluation__submission__status="scored",
        evaluation__submission__team__in=teams,
    )
    related = scores.select_related("evaluation__submission__team").defer(
        "evaluation__report", "evaluation__submission__problems"
    )
    found = {}
    for score in related.order_by("evaluation__created_at", "evaluation", "pk"):
        evaluation = score.evaluation
        of_team = found.setdefault((evaluation.signature, evaluation.submission.team_id), {})
        of_team.setdefault(evaluation.pk, (evaluation, {}))[1][score.split] = score
    return found


def versions(apps, phase, boards, signature, team, evaluations):
    """Yield the versions of one team's entries in chronological order, from the evaluations of its submissions.

    Each evaluation counts from the time at which it was created.
    """
    Board, Entry = apps.get_model("leaderboards", "Board"), apps.get_model("leaderboards", "Entry")
    for kind, split in SPLITS.items():
        candidates, last = [], None
        for evaluation, scores in evaluations.values():
            if split not in scores or scores[split].value is None:
                continue
            candidates.append(candidate(evaluation, scores[split], scores.get("public")))
            one = entry_of(candidates, kind=kind, finals=phase.finals)
            if one is not None and (last is None or last.evaluation_id != one.evaluation_id):
                if (kind, signature) not in boards:
                    boards[kind, signature] = Board.objects.create(phase=phase, kind=kind, signature=signature)
                since = evaluation.created_at
                if last is not None:
                    last.valid_until = since
                    yield last
                last = Entry(
                    **{"board": boards[kind, signature], "team_id": team, "is_baseline": one.baseline},
                    **{"evaluation_id": one.evaluation_id, "score": one.score, "submitted_at": one.received[0]},
                    **{"low": evaluations[one.evaluation_id][1][split].low, "valid_from": since},
                    **{"high": evaluations[one.evaluation_id][1][split].high, "submissions": len(candidates)},
                )
        if last is not None:
            last.submissions = len(candidates)
            yield last


def candidate(evaluation, score, public):
    submission = evaluation.submission
    return Candidate(
        evaluation_id=evaluation.pk,
        score=score.value,
        received=(submission.received_at, submission.pk),
        public_score=public.value if public else None,
        baseline=submission.team.is_baseline,
        final=submission.final,
        visible=evaluation.published_id == evaluation.pk,
    )


def forget(apps, schema_editor):
    """Reverse the migration: remove all entries.

    The entries can be derived from the scores again, but the history recorded since then is lost.
    """
    for name in ("Entry", "Board", "BoardTerms"):
        apps.get_model("leaderboards", name).objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("leaderboards", "0001_entries"), ("audit", "0001_initial")]

    operations = [migrations.RunPython(reconstruct, forget)]
