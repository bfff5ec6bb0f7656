"""Queries for the challenges that a person may see."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from server.challenges.models import Challenge  # noqa: F401


class ChallengeQuerySet(models.QuerySet["Challenge"]):
    def listed_for(self, user: Any) -> "ChallengeQuerySet":
        """Return the challenges in a person's lists: public, joined and organized ones. Staff see all challenges."""
        return self.shown_to(user, [self.model.Visibility.PUBLIC])

    def readable_by(self, user: Any) -> "ChallengeQuerySet":
        """Return the challenges that a person may open by URL: those in their lists, and unlisted ones."""
        return self.shown_to(user, [self.model.Visibility.PUBLIC, self.model.Visibility.UNLISTED])

    def shown_to(self, user: Any, to_anybody: list[str]) -> "ChallengeQuerySet":
        """Return the challenges with these visibilities, and those that the person has joined or organizes."""
        if user.is_staff:
            return self
        shown = Q(visibility__in=to_anybody)
        if user.is_authenticated:
            shown |= Q(pk__in=user.memberships.order_by().values("challenge"))
            shown |= Q(pk__in=user.organized_challenges.order_by().values("pk"))
        return self.filter(shown)
