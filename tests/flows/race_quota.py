"""Simulates a team that uploads many files at once, and prints the numbers of accepted and rejected files.

A test runs this as a separate program, because it needs its own database with several connections, like the service.
"""

import json
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "server.settings")
django.setup()

from django.core.files.base import ContentFile  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from server.accounts.models import User  # noqa: E402
from server.challenges.models import Challenge, Phase, Team, Truth  # noqa: E402
from server.challenges.services import join  # noqa: E402
from server.errors import Refused  # noqa: E402
from server.submissions.models import QuotaEntry, Submission  # noqa: E402
from server.submissions.services import intake, leases, quota  # noqa: E402

UPLOADS, QUOTA, CLAIMANTS = 16, 5, 8


def main() -> None:
    call_command("migrate", verbosity=0)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    challenge = Challenge.objects.create(slug="race", title="Race", opens_at=yesterday)
    track = "openimages-detection"
    phase = Phase.objects.create(challenge=challenge, slug="main", title="Main", track=track, quota_per_day=QUOTA)
    Phase.objects.update(gate_exempt=True)
    Truth.objects.create(phase=phase, version=1, sha256="0" * 64, active=True)
    user = User.objects.create_user("ada", "ada@example.org")
    team = join(user=user, challenge=challenge, accept_rules=True).team
    connection.close()
    answers = at_once(UPLOADS, lambda number: upload(user, team, phase, number))
    one = Submission.objects.first()
    claims = at_once(CLAIMANTS, lambda number: str(one is not None and leases.claim(Submission, one.pk) is not None))
    seen = {
        "vendor": connection.vendor,
        "answers": Counter(answers),
        "rows": Submission.objects.count(),
        "charged": QuotaEntry.objects.count(),
        "left": quota.state(team=team, phase=phase, now=datetime.now(UTC)).left,
        "claims": Counter(claims),
    }
    print(json.dumps(seen))


def at_once(count: int, deed: Callable[[int], str]) -> list[str]:
    """Call the function in `count` threads, which all start at the same moment, and return the results."""
    barrier = Barrier(count)

    def run(number: int) -> str:
        barrier.wait()
        try:
            return deed(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def upload(user: User, team: Team, phase: Phase, number: int) -> str:
    try:
        intake.submit(user=user, team=team, phase=phase, file=ContentFile(b"%d" % number, "a.csv"))
    except Refused as refused:
        return refused.code
    return "taken"


if __name__ == "__main__":
    main()
