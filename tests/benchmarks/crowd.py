"""Fills a phase with scored submissions from many teams, using a few SQL statements instead of the evaluator."""

import struct
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from django.db import connection
from django.db.models import AutoField, Model

from server.accounts.models import User
from server.challenges.models import Challenge, Membership, Phase, Team, Truth
from server.submissions.models import Evaluation, Replicates, Score, Status, Submission

REPLICATES, NOISE, SEED = 1000, 0.005, 20261121
FIRST, LAST = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
SORTABLE = ("top1", "top5", "mean_class_top1", "mean_class_top5")
NUMBERS = (
    "(WITH RECURSIVE counted(n) AS (SELECT %s UNION ALL SELECT n + 1 FROM counted WHERE n < %s) SELECT n FROM counted)"
)
SPLITS = "(SELECT 'public' AS split UNION ALL SELECT 'private' UNION ALL SELECT 'all')"


def write(*, teams: int, each: int) -> Phase:
    """Write scores for many teams.

    Leaderboard entries are updated after half of the scores and at the end, so that the leaderboard has a history.
    """
    from server.leaderboards.models import BoardTerms, Entry
    from server.leaderboards.services.entries import rebuild

    halves = iter((FIRST + (LAST - FIRST) / 2, LAST))

    def keep(phase: Phase) -> None:
        rebuild(phase)
        at = next(halves)
        Entry.objects.filter(valid_until__gt=LAST + timedelta(days=1)).update(valid_until=at)
        Entry.objects.filter(valid_from__gt=LAST + timedelta(days=1)).update(valid_from=at)

    phase = write_scores(teams=teams, each=each, after_each_half=keep)
    BoardTerms.objects.filter(phase=phase).update(since=FIRST)
    phase.truths.update(used=True)
    entries = Entry.objects.present().filter(board__phase=phase, board__kind="public")
    replicate(dict(entries.values_list("evaluation", "score")))
    return phase


def write_sortable(*, teams: int) -> None:
    """Write a challenge with two submissions per team and a leaderboard that can be sorted by other metrics."""
    from server.leaderboards.services.entries import rebuild

    write_scores(teams=teams, each=2, after_each_half=rebuild, slug="sortable", track="objectnet", metrics=SORTABLE)


def write_watched() -> None:
    """Write a challenge that has an organizer and 1,000 submissions, 200 of which have failed."""
    from server.leaderboards.services.entries import rebuild

    phase = write_scores(teams=20, each=50, after_each_half=rebuild, slug="watched")
    phase.challenge.organizers.add(User.objects.create_user("watcher", "watcher@example.org"))
    failed = {
        "status": Status.FAILED,
        "fault": "platform",
        "failure_code": "accident",
        "failure": "an unexpected error",
    }
    Submission.objects.filter(phase=phase, size_bytes__lte=10).update(file="stored", **failed)


def write_scores(
    *,
    teams: int,
    each: int,
    after_each_half: Callable[[Phase], None],
    slug: str = "crowd",
    track: str = "openimages-detection",
    metrics: Sequence[str] = ("mAP",),
) -> Phase:
    """Write teams with submissions and scores, but no leaderboard entries.

    This function also works with earlier versions of the service, which did not store leaderboard entries.
    """
    challenge = Challenge.objects.create(slug=slug, title=slug.capitalize(), opens_at=FIRST)
    phase = Phase.objects.create(challenge=challenge, slug="main", title="Main", track=track)
    Truth.objects.create(phase=phase, version=1, sha256="0" * 64, active=True)
    phase.signature = f"{track}|truth:0"
    phase.save()
    user = User.objects.filter(username="reader").first() or User.objects.create_user("reader", "reader@example.org")
    made = Team.objects.bulk_create(Team(challenge=challenge, name=f"Team {number:05}") for number in range(teams))
    middle = made[teams // 2]
    Membership.objects.create(team=middle, challenge=challenge, user=user, rules_accepted_at=FIRST)
    for start, stop in ((0, each // 2), (each // 2, each)):
        submit(phase, made[0], start, stop, of=each, metrics=metrics)
        after_each_half(phase)
    return phase


def submit(phase: Phase, team: Team, start: int, stop: int, *, of: int, metrics: Sequence[str]) -> None:
    """Write the scored submissions numbered `start` to `stop - 1` of every team, by copying a temporary submission."""
    file = {"file_name": "a.csv", "size_bytes": 0, "sha256": "0" * 64, "status": Status.SCORED}
    times = dict.fromkeys(("received_at", "enqueued_at", "finished_at"), FIRST)
    one = Submission.objects.create(phase=phase, team=team, **file, **times)
    result = {"truth": phase.truths.get(), "signature": phase.signature, "evaluator_version": "1", "report": {}}
    evaluation = Evaluation.objects.create(submission=one, created_at=FIRST, cpu_seconds=0.1, **result)
    sqlite = connection.vendor == "sqlite"
    share = f"(n + team.id * 7919 %% 1000 / 1000.0) / {of} * {(LAST - FIRST).total_seconds()}"
    at = f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', template.received_at, ({share}) || ' seconds')"
    at = at if sqlite else f"template.received_at + ({share}) * interval '1 second'"
    copy(
        one,
        f"challenges_team team CROSS JOIN {NUMBERS} numbers WHERE team.challenge_id = {phase.challenge_id}",
        [start, stop - 1],
        order="n, team.id",
        id="lower(hex(randomblob(16)))" if sqlite else "gen_random_uuid()",
        team_id="team.id",
        # Instead of a file size, the column `size_bytes` stores the number of the submission within its team, counted
        # from 1. Later SQL statements select submissions by this number.
        size_bytes="n + 1",
        **dict.fromkeys(times, at),
    )
    numbered = f"submission.phase_id = {phase.pk} AND submission.size_bytes BETWEEN {start + 1} AND {stop}"
    copy(
        evaluation,
        f"submissions_submission submission WHERE {numbered}",
        order="submission.received_at",
        submission_id="submission.id",
        created_at="submission.received_at",
    )
    for number, metric in enumerate(metrics):
        first = {"split": "public", "metric": metric, "value": 0.5, "low": 0.49, "high": 0.51}
        copy_score(Score.objects.create(evaluation=evaluation, **first), numbered, f"(evaluation.id + {97 * number})")
    one.delete()


def copy_score(score: Score, numbered: str, key: str) -> None:
    """Insert a pseudorandom score on each split for the submissions that match the SQL condition `numbered`.

    The SQL expression `key` is the seed of the score.
    """
    dice = (f"({key} * 7919 %% {prime} / {prime}.0)" for prime in (10007, 10009, 10037))
    value = f"(({' + '.join(dice)}) / 3)"  # Scores range from 0.0 to 1.0, and most are near 0.5.
    copy(
        score,
        f"""submissions_evaluation evaluation CROSS JOIN {SPLITS} splits
            JOIN submissions_submission submission ON submission.id = evaluation.submission_id WHERE {numbered}""",
        order="evaluation.id, splits.split",
        evaluation_id="evaluation.id",
        split="splits.split",
        value=value,
        low=f"{value} - 0.01",
        high=f"{value} + 0.01",
    )


def copy(template: Model, source: str, words: list[int] | None = None, *, order: str, **values: str) -> None:
    """Insert a copy of the row `template` for each row of `source`. `values` maps some columns to SQL expressions."""
    meta = template._meta
    columns = [field.column for field in meta.concrete_fields if not isinstance(field, AutoField)]
    assert {*values} <= {*columns}
    chosen = ", ".join(values.get(column, f"template.{column}") for column in columns)
    table = f"{meta.db_table} template CROSS JOIN {source} AND template.id = %s ORDER BY {order}"
    key = meta.pk.get_db_prep_value(template.pk, connection)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {meta.db_table} ({', '.join(columns)}) SELECT {chosen} FROM {table}", [*(words or []), key]
        )


def replicate(scores: dict[int, float]) -> None:
    """Write simulated bootstrap replicates of public scores. Ties between teams are computed from these replicates."""
    random = Random(SEED)
    noise = [random.gauss(0.0, NOISE) for _ in range(2 * REPLICATES)]
    common = {"split": "public", "seed": 0, "count": REPLICATES}
    rows = []
    for evaluation, score in scores.items():
        start = random.randrange(REPLICATES)
        drawn = [score + one for one in noise[start : start + REPLICATES]]
        rows.append(Replicates(evaluation_id=evaluation, values=struct.pack(f"<{REPLICATES}d", *drawn), **common))
    Replicates.objects.bulk_create(rows, batch_size=500)
