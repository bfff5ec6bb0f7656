"""The URLs of the API, below /api/v1/."""

from django.urls import path, re_path

from server.api.views.accounts import DeviceCode, DeviceToken, Me, OwnToken
from server.api.views.baselines import Baselines, PutBackBaseline, RemoveBaseline
from server.api.views.blocks import Blocks, OneBlock
from server.api.views.challenges import (
    ChallengeDetail,
    ChallengeList,
    Decision,
    Join,
    JoinRequests,
    Quota,
    Statement,
)
from server.api.views.docs import Schema, docs
from server.api.views.grants import Grants, TakeBack
from server.api.views.invitations import LinkedInvitation, OneInvitation, OwnInvitations, TeamInvitations
from server.api.views.kit import Candidates, CheckKit, Template
from server.api.views.leaderboard import Leaderboard
from server.api.views.leaderboard_history import LeaderboardHistory
from server.api.views.missing import Missing
from server.api.views.organizing import Apply, Changes, Discard, Export, Rescore, Truths
from server.api.views.results import Results, SigningKey
from server.api.views.submissions import Cancel, OwnFile, OwnSubmissions, Report, SubmissionDetail
from server.api.views.teams import Merges, OneMerge, OwnTeam, PublicTeam, TeamMember
from server.api.views.uploads import OneUpload, Uploads

PHASE = "challenges/<slug:slug>/phases/<slug:phase>"
SUBMISSION = "submissions/<uuid:submission_id>"

urlpatterns = [
    # The most frequently requested routes come first, because Django tries the patterns in the order of this list.
    path(f"{PHASE}/leaderboard", Leaderboard.as_view()),
    path(SUBMISSION, SubmissionDetail.as_view()),
    path(f"{PHASE}/submissions", OwnSubmissions.as_view(), name="api_submissions"),
    path("challenges", ChallengeList.as_view(), name="api_challenges"),
    path("challenges/<slug:slug>", ChallengeDetail.as_view()),
    path("challenges/<slug:slug>/export", Export.as_view()),
    path("challenges/<slug:slug>/join", Join.as_view(), name="api_join"),
    path("challenges/<slug:slug>/join-requests", JoinRequests.as_view()),
    path("challenges/<slug:slug>/join-requests/<int:request_id>", Decision.as_view()),
    path("challenges/<slug:slug>/team", OwnTeam.as_view()),
    path("challenges/<slug:slug>/team/members/<str:username>", TeamMember.as_view()),
    path("challenges/<slug:slug>/team/invitations", TeamInvitations.as_view()),
    path("challenges/<slug:slug>/team/merges", Merges.as_view()),
    path("challenges/<slug:slug>/team/merges/<int:merge_id>", OneMerge.as_view()),
    path("challenges/<slug:slug>/teams/<int:team_id>", PublicTeam.as_view()),
    path("challenges/<slug:slug>/blocks", Blocks.as_view()),
    path("challenges/<slug:slug>/blocks/<int:block_id>", OneBlock.as_view()),
    path("challenges/<slug:slug>/invitations", OwnInvitations.as_view()),
    path("challenges/<slug:slug>/invitations/<int:invitation_id>", OneInvitation.as_view()),
    path("invitations", LinkedInvitation.as_view()),
    path(f"{PHASE}/quota", Quota.as_view()),
    path(f"{PHASE}/quota/statement", Statement.as_view()),
    path(f"{PHASE}/template", Template.as_view()),
    path(f"{PHASE}/candidates", Candidates.as_view()),
    path(f"{PHASE}/kit", CheckKit.as_view(), name="api_kit"),
    path(f"{PHASE}/uploads", Uploads.as_view()),
    path(f"{PHASE}/leaderboard/history", LeaderboardHistory.as_view()),
    path(f"{PHASE}/results", Results.as_view(), name="api_results"),
    path(f"{PHASE}/teams/<int:team_id>/grants", Grants.as_view()),
    path(f"{PHASE}/teams/<int:team_id>/grants/<int:grant_id>/take-back", TakeBack.as_view()),
    path(f"{PHASE}/baselines", Baselines.as_view(), name="api_baselines"),
    path(f"{PHASE}/baselines/<int:team_id>/remove", RemoveBaseline.as_view()),
    path(f"{PHASE}/baselines/<int:team_id>/put-back", PutBackBaseline.as_view()),
    path(f"{PHASE}/truths", Truths.as_view(), name="api_truths"),
    path(f"{PHASE}/changes", Changes.as_view()),
    path(f"{PHASE}/rescore", Rescore.as_view()),
    path(f"{PHASE}/rescore/apply", Apply.as_view()),
    path(f"{PHASE}/rescore/discard", Discard.as_view()),
    path(f"{SUBMISSION}/report", Report.as_view()),
    path(f"{SUBMISSION}/file", OwnFile.as_view()),
    path(f"{SUBMISSION}/cancel", Cancel.as_view()),
    path("uploads/<uuid:upload_id>", OneUpload.as_view(), name="api_upload"),
    path("device/code", DeviceCode.as_view()),
    path("device/token", DeviceToken.as_view()),
    path("me", Me.as_view()),
    path("me/token", OwnToken.as_view()),
    path("signing-key", SigningKey.as_view(), name="api_signing_key"),
    path("schema", Schema.as_view(), name="schema"),
    path("docs", docs, name="docs"),
    re_path(r"^[\s\S]*$", Missing.as_view()),
]
