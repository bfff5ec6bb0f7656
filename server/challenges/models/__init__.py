"""Models for challenges, their phases and ground truths, and the teams that take part."""

from server.challenges.models.challenges import LADDER_STANDARD_ERRORS, Challenge, Phase, Truth
from server.challenges.models.organizers import Organizer
from server.challenges.models.teams import FormerMember, JoinRequest, Membership, Team

__all__ = [
    "LADDER_STANDARD_ERRORS",
    "Challenge",
    "FormerMember",
    "JoinRequest",
    "Membership",
    "Organizer",
    "Phase",
    "Team",
    "Truth",
]
