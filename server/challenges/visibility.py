"""Queries for the challenges that a user may see."""

from dataclasses import dataclass
from typing import Any, Self

from django.db import models
from django.db.models import Q

from server.challenges.roles import ROLES_WITH, Right


@dataclass(frozen=True, slots=True)
class Viewer:
    """The properties of a user that determine which challenges the user may see.

    `pk` is None if the user is not logged in. A compiled query is built once for all users. It uses an instance of this
    class whose `pk` is a placeholder for a query parameter.
    """

    pk: Any
    is_staff: bool

    @property
    def is_authenticated(self) -> bool:
        return self.pk is not None


class ChallengeQuerySet(models.QuerySet[Any]):
    def listed_for(self, user: Any) -> Self:
        """Return the challenges that are listed for a user.

        These are public challenges, and challenges that the user has joined or organizes. Staff see all challenges.
        """
        return self.shown_to(user, [self.model.Visibility.PUBLIC])

    def readable_by(self, user: Any) -> Self:
        """Return the challenges that a user may open by URL: the challenges listed for the user, and unlisted ones."""
        return self.shown_to(user, [self.model.Visibility.PUBLIC, self.model.Visibility.UNLISTED])

    def shown_to(self, user: Any, to_anybody: list[str]) -> Self:
        """Return challenges with one of the given visibilities, and challenges that the user has joined or organizes.

        Staff see all challenges.
        """
        if user.is_staff:
            return self
        shown = Q(visibility__in=to_anybody)
        if user.is_authenticated:
            challenges = self.model.objects.order_by()
            shown |= Q(pk__in=challenges.filter(memberships__user=user.pk).values("pk"))
            shown |= Q(pk__in=challenges.filter(organizers=user.pk).values("pk"))
        return self.filter(shown)

    def contact_of(self, slug: str, *, reader: Any) -> str:
        """Return the contact address of a challenge, or an empty string if it has none or the reader may not see it."""
        found = self.readable_by(reader).filter(slug=slug).order_by()
        return found.values_list("contact", flat=True).first() or ""

    def organized_by(self, user: Any, right: Right = Right.READ) -> Self:
        """Return the challenges in which a user has the given right as an organizer.

        Staff have all rights in all challenges. If a challenge requires its organizers to use two-factor
        authentication, organizers without it have no rights.
        """
        if not user.is_authenticated:
            return self.none()
        if user.is_staff:
            return self
        allowed = Q(organizers_need_two_factor=False) | Q(organizers__has_two_factor=True)
        if right is not Right.READ:
            allowed &= Q(organizer_roles__role__in=ROLES_WITH[right], organizer_roles__user=user.pk)
        return self.filter(allowed, organizers=user.pk)
