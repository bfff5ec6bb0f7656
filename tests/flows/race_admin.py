"""A program that saves a phase in the admin while a second transaction changes another column of the phase's row.

The second transaction holds a lock on the row until PostgreSQL reports that the admin is waiting for it.
"""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

# The module race_quota must be imported first, because it sets up Django.
from tests.flows.race_quota import connection

# isort: split
from django.contrib import admin
from django.contrib.messages.storage.cookie import CookieStorage
from django.core.management import call_command
from django.db import transaction
from django.test import RequestFactory

import server.urls  # noqa: F401  # registers the admin
from server.accounts.models import User
from server.challenges.models import Challenge, Phase

FORM = {"title": "x", "position": 0, "quota_per_day": 7, "attempts_per_day": 20, "finals": 2, "feedback": "exact"}
WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def main() -> None:
    call_command("migrate", verbosity=0)
    challenge = Challenge.objects.create(slug="race", title="Race", opens_at=datetime.now(UTC) - timedelta(days=1))
    phase = Phase.objects.create(challenge=challenge, slug="main", title="Main", track="openimages-detection")
    user = User.objects.create_superuser("root", "root@example.org")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            locked = Phase.objects.select_for_update(no_key=True).get()
            locked.signature = "rescored"
            locked.save(update_fields=["signature"])
            saved = pool.submit(save, phase.pk, user)
            wait_for_lock()
        status = saved.result()
    after = Phase.objects.get()
    print(json.dumps({"status": status, "signature": after.signature, "quota": after.quota_per_day}))


def save(key: int, user: User) -> int:
    """Submit the admin form for the phase, and return the status code of the response."""
    request = RequestFactory(SERVER_NAME="localhost").post("/", FORM)
    request.user = user
    request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
    request._messages = CookieStorage(request)  # type: ignore[attr-defined]
    try:
        return int(admin.site.get_model_admin(Phase).changeform_view(request, str(key)).status_code)
    finally:
        connection.close()


def wait_for_lock() -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            # Discard the statistics that PostgreSQL caches during a transaction. Otherwise, a lock that another
            # connection waits for would never become visible.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(WAITING)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.05)
    raise TimeoutError("the admin never waited for the row")


if __name__ == "__main__":
    main()
