"""The database models for teams, their members and extensions, and for requests to join a challenge."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from server.challenges.models.challenge import Challenge
from server.challenges.models.challenges import Phase
from server.challenges.search_names import SearchName


class Team(models.Model):
    """A team in a challenge, whose members submit files.

    A user who joins alone is the only member of a team. A baseline is a team without members.
    """

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="teams")
    name = models.CharField(max_length=80)
    is_baseline = models.BooleanField(default=False)
    search_name = SearchName(editable=False, default="", db_default="")
    served_at = models.DateTimeField(
        null=True, blank=True, help_text="when scoring of a file from this team last began"
    )
    disqualified_at = models.DateTimeField(
        null=True, blank=True, help_text="when the team was disqualified; empty if it is not disqualified"
    )
    disqualification_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    disqualification_is_shown = models.BooleanField(
        default=True, db_default=True, help_text="whether the team can see the reason"
    )
    merged_into = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="merged_teams",
        help_text="the team to which a merge moved the members and submissions of this team",
    )
    merged_at = models.DateTimeField(null=True, blank=True, help_text="when this team was merged into that team")
    last_merge_at = models.DateTimeField(
        null=True, blank=True, help_text="when another team was last merged into this team"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        indexes = (
            # Queries that count the teams of a challenge use this index.
            models.Index(fields=("challenge", "is_baseline", "merged_into"), name="team_of_challenge"),
            models.Index(fields=("challenge",), condition=Q(merged_into__isnull=False), name="merged_team"),
        )
        constraints = (
            models.UniqueConstraint("challenge", Lower("name"), name="team_name_unique_in_challenge"),
            models.CheckConstraint(
                name="team_disqualified_with_a_reason",
                condition=Q(disqualified_at=None, disqualification_reason="")
                | (Q(disqualified_at__isnull=False) & ~Q(disqualification_reason="")),
            ),
            models.CheckConstraint(
                name="team_merged_into_another",
                condition=Q(merged_into=None) | (Q(merged_at__isnull=False) & ~Q(merged_into=F("pk"))),
            ),
        )

    def __str__(self) -> str:
        return self.name


class Removal(models.Model):
    """A period in which a team was off the leaderboards, because organizers disqualified it or removed the baseline.

    A frozen leaderboard shows the entries at the time of the freeze, without the teams that were removed later.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="removals")
    removed_at = models.DateTimeField()
    returned_at = models.DateTimeField(
        null=True, help_text="when the team returned to the leaderboards; empty while it is removed"
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("team",), condition=Q(returned_at=None), name="one_present_removal"),
        )

    def __str__(self) -> str:
        return f"{self.team} from {self.removed_at}"


class Membership(models.Model):
    """A user's membership in a team, with the time at which the user accepted the rules of the challenge.

    A user can be in only one team per challenge.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    is_captain = models.BooleanField(default=False)
    is_shown = models.BooleanField(
        default=False, db_default=False, help_text="whether the public page of the team names this person"
    )
    rules_accepted_at = models.DateTimeField()
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("joined_at",)
        constraints = (models.UniqueConstraint(fields=("challenge", "user"), name="one_team_per_person_and_challenge"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class FormerMember(models.Model):
    """A user who left a team after it had submitted. The user cannot join any other team of the challenge."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="former_members")
    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="former_members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="former_memberships")
    left_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("challenge", "user"), name="one_former_team_per_person_and_challenge"),
        )

    def __str__(self) -> str:
        return f"{self.user}, formerly in {self.team}"


class Extension(models.Model):
    """An extension of a phase for a single team, which can then submit until a later time than other teams.

    The private leaderboard of the phase stays closed until the last extension has ended.
    """

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="extensions")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="extensions")
    until = models.DateTimeField()
    reason = models.CharField(max_length=300)
    granted_at = models.DateTimeField()

    class Meta:
        ordering = ("until",)
        constraints = (models.UniqueConstraint(fields=("phase", "team"), name="one_extension_per_phase_and_team"),)

    def __str__(self) -> str:
        return f"{self.phase} until {self.until} for {self.team}"


class JoinRequest(models.Model):
    """A request to join a challenge whose organizers approve members. It is deleted when the user joins."""

    class Status(models.TextChoices):
        WAITING = "waiting", "waiting for approval"
        DECLINED = "declined", "declined"

    challenge = models.ForeignKey(Challenge, on_delete=models.CASCADE, related_name="join_requests")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="join_requests")
    team_name = models.CharField(max_length=80, blank=True)
    status = models.CharField(max_length=10, choices=Status, default=Status.WAITING)
    rules_accepted_at = models.DateTimeField()
    requested_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("requested_at",)
        constraints = (
            models.UniqueConstraint(fields=("challenge", "user"), name="one_request_per_person_and_challenge"),
        )

    def __str__(self) -> str:
        return f"{self.user} for {self.challenge}"
