"""Settings of a worker that work but may do harm: each is named once, at start."""

from django.conf import settings

from server.runtime import memory


def doubts() -> list[str]:
    """Return a sentence for each."""
    return [doubt for doubt in (memory.shortage(), monopoly()) if doubt]


def monopoly() -> str:
    """Say what to set, if one team may occupy every process of the worker; else nothing. A single one is for all."""
    at_once, processes = settings.TEAM_EVALUATIONS_AT_ONCE, settings.WORKER_PROCESSES
    if processes < 2 or at_once < processes:
        return ""
    return (
        f"TEAM_EVALUATIONS_AT_ONCE={at_once} lets one team occupy all {processes} processes of this worker. Set it to "
        f"{processes - 1} or less, unless there are other workers."
    )
