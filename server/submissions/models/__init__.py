"""One uploaded file, its scorings, and what it cost: the rows that the way of a submission is made of."""

from server.submissions.models.evaluation import Evaluation, Explanation, Replicates, Score
from server.submissions.models.quota import QuotaEntry
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
    "QuotaEntry",
    "Replicates",
    "Rerun",
    "RerunQuerySet",
    "Score",
    "Status",
    "Submission",
    "SubmissionQuerySet",
    "upload_key",
]
