"""Models for submitted files: submissions, their evaluations, jobs that score them again, and the quota they used."""

from server.submissions.models.evaluation import Evaluation, Explanation, Replicates, Score, ScoreQuerySet
from server.submissions.models.lease import Leased
from server.submissions.models.quota import QuotaEntry, QuotaGrant
from server.submissions.models.rerun import Rerun, RerunQuerySet
from server.submissions.models.states import BOOTSTRAPPING, FINISHED, STAGES, UNSCORED, Failure, Fault, Status
from server.submissions.models.submission import Submission, SubmissionQuerySet, upload_key

__all__ = [
    "BOOTSTRAPPING",
    "FINISHED",
    "STAGES",
    "UNSCORED",
    "Evaluation",
    "Explanation",
    "Failure",
    "Fault",
    "Leased",
    "QuotaEntry",
    "QuotaGrant",
    "Replicates",
    "Rerun",
    "RerunQuerySet",
    "Score",
    "ScoreQuerySet",
    "Status",
    "Submission",
    "SubmissionQuerySet",
    "upload_key",
]
