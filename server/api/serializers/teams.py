"""API serializers for teams: members, invitations, merges, and public data."""

from typing import Any

from django.conf import settings
from django.urls import reverse
from rest_framework import serializers

from server.api.serializers.fields import Interval, NullIfEmpty
from server.api.serializers.inputs import StrictBoolean, StrictInput, StrictText
from server.challenges.models import Membership
from server.submissions.feedback import SPLITS
from server.teams.models import Invitation


class TeamMemberSerializer(serializers.Serializer[Membership]):
    user = serializers.CharField(source="user.username")
    captain = serializers.BooleanField(source="is_captain")
    shown = serializers.BooleanField(
        source="is_shown", help_text="whether the public page of the team shows the name of the member"
    )
    joined_at = serializers.DateTimeField()


class InvitationSerializer(serializers.Serializer[Invitation]):
    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=Invitation.Kind.choices)
    team = serializers.CharField(source="team.name")
    user = serializers.CharField(
        source="user.username", allow_null=True, default=None, help_text="null for an invitation by link"
    )
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class NewInvitationSerializer(InvitationSerializer):
    """A new invitation. `token` and `link` are not stored and cannot be shown again."""

    token = serializers.CharField(allow_null=True, help_text="null for an invitation by username")
    link = serializers.URLField(allow_null=True, help_text="null for an invitation by username")

    @classmethod
    def data_of(cls, invitation: Invitation, token: str | None) -> dict[str, Any]:
        address = settings.PODIUM_URL.rstrip("/")
        link = f"{address}{reverse('invitation_link', args=[token])}" if token else None
        return {**InvitationSerializer(invitation).data, "token": token, "link": link}


class MergeSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    team = serializers.CharField(source="team.name", help_text="the team that proposes the merge, and keeps its name")
    other = serializers.CharField(source="other.name", help_text="the team whose captain decides")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class JointUseSerializer(serializers.Serializer[Any]):
    phase = serializers.CharField(source="title")
    submissions = serializers.IntegerField(help_text="sum for both teams")
    allowed = serializers.IntegerField(help_text="number of submissions that one team could have made so far")
    total = serializers.IntegerField(allow_null=True, help_text="the quota for the whole phase; null if there is none")
    left = serializers.IntegerField(
        help_text="number of submissions that the merged team could still make on the day of the merge"
    )
    finals = serializers.IntegerField(
        help_text=(
            "final submissions of both teams; the captain who proposes the merge sees only the number for their own "
            "team"
        )
    )
    finals_allowed = serializers.IntegerField()


class MergePreviewSerializer(MergeSerializer):
    """A proposed merge and its effects if it were confirmed now. `reasons` lists the rules that forbid it now."""

    members = serializers.IntegerField(help_text="of both teams")
    use = JointUseSerializer(many=True)
    reasons = serializers.ListField(child=serializers.CharField())


class OwnTeamSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    team = serializers.CharField(source="name")
    captain = serializers.BooleanField(help_text="whether you are the captain")
    members = TeamMemberSerializer(many=True)
    invitations = InvitationSerializer(many=True, help_text="invitations and requests that are waiting for a decision")
    merges = MergeSerializer(many=True, help_text="proposals that are waiting for a decision")
    method = serializers.CharField()
    paper_url = NullIfEmpty()
    code_url = NullIfEmpty()


class TeamInput(StrictInput):
    name = StrictText(required=False, help_text="a new name for the team")
    captain = StrictText(required=False, help_text="username of the member who becomes captain")
    shown = StrictBoolean(required=False, help_text="whether the public page of the team shows your name")
    method = StrictText(required=False, allow_blank=True, help_text="name of the method")
    paper_url = StrictText(required=False, allow_blank=True, help_text="link to a paper; may be empty")
    code_url = StrictText(required=False, allow_blank=True, help_text="link to the code; may be empty")


class InviteInput(StrictInput):
    user = StrictText(required=False, help_text="username of the invited person; without it, the response has a link")


class AskInput(StrictInput):
    team = StrictText(help_text="name of the team")
    accept_rules = StrictBoolean(
        default=False, help_text="must be true if you have not joined the challenge: you accept its rules"
    )


class AnswerInput(StrictInput):
    accept = StrictBoolean(help_text="true to accept, false to decline or withdraw")
    accept_rules = StrictBoolean(default=False, help_text="must be true if you have not joined")


class LinkInput(StrictInput):
    token = StrictText(help_text="the last part of the invitation link")
    accept_rules = StrictBoolean(default=False, help_text="must be true if you have not joined")


class ProposeInput(StrictInput):
    team = StrictText(help_text="name of the other team, which would be merged into yours")


class ConfirmInput(StrictInput):
    confirm = StrictBoolean(help_text="true to merge the teams, which cannot be undone; false to decline or withdraw")


class ClosedSerializer(serializers.Serializer[Any]):
    accepted = serializers.BooleanField()
    team = serializers.CharField(help_text="the team of the invitation or, after a merge, the merged team")


class TeamEntrySerializer(serializers.Serializer[Any]):
    phase = serializers.SlugField(source="board.phase.slug")
    split = serializers.ChoiceField(choices=SPLITS, source="board.split")
    rank = serializers.IntegerField(source="row.rank", allow_null=True, help_text="null for a baseline")
    of = serializers.IntegerField(source="board.teams", help_text="number of ranked teams")
    score = serializers.FloatField(source="row.score")
    interval = Interval(source="row.interval", help_text="95% confidence interval; null if not computed yet")
    entries = serializers.IntegerField(source="row.entries", help_text="number of scored submissions of the team")


class PublicTeamSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    team = serializers.CharField(source="name")
    baseline = serializers.BooleanField(source="is_baseline")
    merged_into = serializers.IntegerField(
        source="merged_into_id", allow_null=True, help_text="id of the team into which this team was merged, or null"
    )
    members = serializers.ListField(
        child=serializers.CharField(), help_text="usernames of the members who agreed to be named publicly"
    )
    members_not_named = serializers.IntegerField()
    method = serializers.CharField()
    paper_url = NullIfEmpty()
    code_url = NullIfEmpty()
    results = TeamEntrySerializer(many=True, help_text="current entries on the leaderboards that you can see")
