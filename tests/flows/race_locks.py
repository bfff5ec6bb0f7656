"""A program in which a team uploads, changes and cancels submissions at the same time.

The program prints how often each result occurred. If the threads took locks in different orders, they could cause a
deadlock, which PostgreSQL resolves by raising an error in one of the threads.
"""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from struct import pack

# The module race_quota must be imported first, because it sets up Django.
from tests.flows.race_quota import at_once, upload

# isort: split
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import connection, transaction

from server.accounts.models import User
from server.challenges.models import Challenge, Phase, Truth
from server.challenges.services import join
from server.submissions.models import Rerun, Status, Submission
from server.submissions.services import choices, intake, leases, lifecycle, reruns

EACH = 12


def main() -> None:
    call_command("migrate", verbosity=0)
    now = datetime.now(UTC)
    challenge = Challenge.objects.create(slug="race", title="Race", opens_at=now - timedelta(days=1))
    phase = Phase.objects.create(
        challenge=challenge, slug="main", title="Main", track="openimages-detection", quota_per_day=1000, finals=1000
    )
    Phase.objects.update(attempts_per_day=1000, gate_exempt=True)
    Truth.objects.create(phase=phase, version=1, sha256="0" * 64, active=True)
    user = User.objects.create_user("ada", "ada@example.org")
    team = join(user=user, challenge=challenge, accept_rules=True).team
    phase.refresh_from_db()

    def taken(text: str) -> Submission:
        return intake.submit(user=user, team=team, phase=phase, file=ContentFile(text.encode(), "a.csv"))

    chosen = [taken(f"chosen {number}").pk for number in range(EACH)]
    Submission.objects.filter(pk__in=chosen).update(status=Status.SCORED, finished_at=now)
    reruns.request(Submission.objects.filter(pk__in=chosen), truth=Truth.objects.get())
    waiting = [taken(f"waiting {number}") for number in range(EACH)]
    connection.close()
    deeds: list[Callable[[], str]] = []
    for number in range(EACH):
        deeds.append(partial(upload, user, team, phase, number))
        deeds.append(partial(change, Submission.objects.get(pk=chosen[number]), user))
        deeds.append(partial(compare, Rerun.objects.get(submission=chosen[number])))
        deeds.append(partial(cancel, waiting[number], user))
        deeds.append(partial(note, waiting[number], user))
    connection.close()
    print(json.dumps(Counter(at_once(len(deeds), lambda number: deeds[number]()))))


def change(submission: Submission, user: User) -> str:
    """Set the note of a submission and choose it as final in a single transaction, as the API does."""
    with transaction.atomic():
        choices.set_note(submission=submission, by=user, note="this one")
        choices.set_final(submission=submission, by=user, final=True)
    return "changed"


def compare(rerun: Rerun) -> str:
    """Record the bootstrap replicates of a submission, as a worker does after it has scored the submission again."""
    claimed = leases.claim(Rerun, rerun.pk)
    split = {"headline": "mAP", "metrics": {"mAP": rerun.pk / 1000}, "intervals": {}}
    report = {"signature": "race", "splits": {"public": split}}
    vector = pack("<2d", *(rerun.pk / 1000 + noise for noise in (-0.0001, 0.0001)))
    done = claimed and reruns.record(claimed, report=report, replicates={"public": vector}, cpu_seconds=0.1)
    return "compared" if done else "not compared"


def cancel(submission: Submission, user: User) -> str:
    return str(lifecycle.cancel(submission=submission, by=user).status)


def note(submission: Submission, user: User) -> str:
    choices.set_note(submission=Submission.objects.get(pk=submission.pk), by=user, note="not this one")
    return "noted"


if __name__ == "__main__":
    main()
