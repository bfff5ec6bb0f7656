"""Which challenges a person sees."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from server.challenges.models import Challenge  # noqa: F401


class ChallengeQuerySet(models.QuerySet["Challenge"]):
    def listed_for(self, user: Any) -> "ChallengeQuerySet":
        """Return what a person sees in lists: public challenges, their own, and those they organize. Staff see all."""
        return self.shown_to(user, [self.model.Visibility.PUBLIC])

    def readable_by(self, user: Any) -> "ChallengeQuerySet":
        """Return what a person may open by its URL: listed and unlisted challenges."""
        return self.shown_to(user, [self.model.Visibility.PUBLIC, self.model.Visibility.UNLISTED])

    def shown_to(self, user: Any, to_anybody: list[str]) -> "ChallengeQuerySet":
        """Return challenges of these visibilities, and those that a person is in or organizes."""
        if user.is_staff:
            return self
        shown = Q(visibility__in=to_anybody)
        if user.is_authenticated:
            shown |= Q(pk__in=user.memberships.order_by().values("challenge"))
            shown |= Q(pk__in=user.organized_challenges.order_by().values("pk"))
        return self.filter(shown)
