"""The addresses of the API, below /api/v1/."""

from django.urls import path, re_path

from server.api.views.challenges import (
    ChallengeDetail,
    ChallengeList,
    Decision,
    Join,
    JoinRequests,
    Quota,
    Statement,
)
from server.api.views.docs import Docs, Schema
from server.api.views.leaderboard import Leaderboard
from server.api.views.missing import Missing
from server.api.views.organizing import Apply, Discard, Rescore, Truths
from server.api.views.submissions import Cancel, OwnSubmissions, Report, SubmissionDetail

PHASE = "challenges/<slug:slug>/phases/<slug:phase>"
SUBMISSION = "submissions/<uuid:submission_id>"

urlpatterns = [
    path("challenges", ChallengeList.as_view()),
    path("challenges/<slug:slug>", ChallengeDetail.as_view()),
    path("challenges/<slug:slug>/join", Join.as_view()),
    path("challenges/<slug:slug>/join-requests", JoinRequests.as_view()),
    path("challenges/<slug:slug>/join-requests/<int:request_id>", Decision.as_view()),
    path(f"{PHASE}/quota", Quota.as_view()),
    path(f"{PHASE}/quota/statement", Statement.as_view()),
    path(f"{PHASE}/submissions", OwnSubmissions.as_view(), name="api_submissions"),
    path(f"{PHASE}/leaderboard", Leaderboard.as_view()),
    path(f"{PHASE}/truths", Truths.as_view(), name="api_truths"),
    path(f"{PHASE}/rescore", Rescore.as_view()),
    path(f"{PHASE}/rescore/apply", Apply.as_view()),
    path(f"{PHASE}/rescore/discard", Discard.as_view()),
    path(SUBMISSION, SubmissionDetail.as_view()),
    path(f"{SUBMISSION}/report", Report.as_view()),
    path(f"{SUBMISSION}/cancel", Cancel.as_view()),
    path("schema", Schema.as_view(), name="schema"),
    path("docs", Docs.as_view(), name="docs"),
    re_path(r"^[\s\S]*$", Missing.as_view()),
]
