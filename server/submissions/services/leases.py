"""What is taken now, by whom, and until when: a lease ends if no heartbeat prolongs it."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from server.submissions.models import Rerun, Submission

FREE: dict[str, Any] = {"lease_token": None, "lease_until": None}


def end_of_lease(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.LEASE_SECONDS)


def running(**team: int) -> Counter[int]:
    """Return the number of evaluations that run now, by team: first scorings and reruns."""
    first = Submission.objects.running().filter(**team).order_by().values_list("team_id")
    later = Rerun.objects.running().filter(**{f"submission__{name}": key for name, key in team.items()})
    return Counter(key for (key,) in first.union(later.values_list("submission__team_id"), all=True))


def has_place(team_id: int) -> bool:
    """Tell whether another evaluation of the team may run; exact only for whoever holds the team's row."""
    return running(team_id=team_id)[team_id] < settings.TEAM_EVALUATIONS_AT_ONCE
