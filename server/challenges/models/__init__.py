"""The database models for challenges, their phases, ground truths, teams and organizers."""

from server.challenges.models.blocks import Block
from server.challenges.models.challenge import Challenge
from server.challenges.models.challenges import LADDER_STANDARD_ERRORS, Phase, Truth
from server.challenges.models.organizers import Organizer, RoleOffer
from server.challenges.models.teams import Extension, FormerMember, JoinRequest, Membership, Removal, Team

__all__ = [
    "LADDER_STANDARD_ERRORS",
    "Block",
    "Challenge",
    "Extension",
    "FormerMember",
    "JoinRequest",
    "Membership",
    "Organizer",
    "Phase",
    "Removal",
    "RoleOffer",
    "Team",
    "Truth",
]
