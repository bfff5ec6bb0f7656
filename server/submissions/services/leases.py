"""How long what a worker took is its own: until the lease ends, if no heartbeat prolongs it."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

FREE: dict[str, Any] = {"lease_token": None, "lease_until": None}


def end_of_lease(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)
