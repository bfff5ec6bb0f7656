"""Updates leaderboard entries: recomputes the entries of teams, and writes a new version of each entry that changed.

`refresh` runs in the transaction of every change that can affect an entry. `rebuild` updates a whole phase.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F

from server.challenges.locks import lock_teams
from server.challenges.models import Phase, Team
from server.leaderboards.entry_rows import Kept, Key, Line, lock_boards, present, raise_versions
from server.leaderboards.models import Board, Entry
from server.leaderboards.ranking import Candidate
from server.leaderboards.scored_entries import read_scores
from server.leaderboards.services import metric_values
from server.sql import in_utc, insert, update
from server.submissions.models import Evaluation

TEAMS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored entry that differs from the one computed from the submissions.

    `kept` is None if no entry is stored, and `expected` is None if the team should have no entry.
    """

    key: Key
    kept: Kept | None
    expected: Line | None
    submissions: int

    @property
    def is_new_version(self) -> bool:
        return self.kept is None or self.kept.line != self.expected


@transaction.atomic
def refresh(phase: Phase, teams: Iterable[int], signature: str | None = None) -> None:
    """Update the leaderboard entries of the given teams to match their submissions.

    Only scores with the given evaluation signature (track, parameters, ground truth and evaluator version) are
    considered; by default, all scores are. The teams are locked, so that two workers that record scores for the same
    team wait for each other.
    """
    keys = [*teams]
    lock_teams(keys)
    refresh_locked(phase, keys, signature)


def refresh_locked(phase: Phase, teams: Collection[int], signature: str | None = None) -> None:
    """Update the entries of teams that the caller has locked in its transaction; see `refresh`."""
    if changes := list(changes_of(phase, teams, signature)):
        # `now` is the time at which the old versions of the entries end and the new ones begin. It is determined after
        # the scores have been read, because reading them can take seconds.
        now = max(raise_all(found, boards) for boards, found in changes)
        for boards, found in changes:
            write(phase, found, boards, now=now)


def changes_of(
    phase: Phase, teams: Collection[int], signature: str | None
) -> Iterator[tuple[Mapping[str, int], list[Difference]]]:
    """Lock leaderboards, and yield them with their outdated entries, for each batch of teams and each signature.

    A signature names the track, its parameters, the ground truth and the evaluator version that produced a score.
    """
    for some in in_batches(teams):
        for one in [signature] if signature is not None else signatures_of(phase, some):
            boards = lock_boards(phase, signature=one)
            if found := list(differences(phase, some, signature=one, boards=boards)):
                yield boards, found


def rebuild(phase: Phase) -> None:
    """Update the entries of all teams of a phase to match their submissions."""
    for teams in in_batches(teams_of(phase)):
        refresh(phase, teams)
    metric_values.rebuild(phase)


@transaction.atomic
def recount(phase: Phase) -> None:
    """Count the entries of a phase's leaderboards, and correct the stored numbers of entries."""
    for board in Board.objects.select_for_update(no_key=True).filter(phase=phase).order_by("pk"):
        present = Entry.objects.present().filter(board=board)
        board.listed, board.ranked = present.count(), present.filter(is_baseline=False).count()
        board.save(update_fields=["listed", "ranked"])


def teams_of(phase: Phase) -> list[int]:
    """Return the ids of all teams in the challenge to which a phase belongs."""
    return list(Team.objects.filter(challenge=phase.challenge_id).order_by("pk").values_list("pk", flat=True))


def in_batches(teams: Collection[int]) -> Iterator[list[int]]:
    """Yield batches of team ids in ascending order."""
    ordered = sorted(teams)
    return (ordered[start : start + TEAMS_AT_ONCE] for start in range(0, len(ordered), TEAMS_AT_ONCE))


def signatures_of(phase: Phase, teams: Collection[int]) -> list[str]:
    """Return the signatures of all scores and entries of the given teams.

    A signature names the track, its parameters, the ground truth and the evaluator version that produced a score.
    """
    scored = Evaluation.objects.filter(submission__phase=phase, submission__team__in=teams)
    listed = Entry.objects.present().filter(board__phase=phase, team__in=teams)
    found = {*scored.values_list("signature", flat=True), *listed.values_list("board__signature", flat=True)}
    return sorted(found)


def differences(
    phase: Phase, teams: Collection[int], *, signature: str, boards: Mapping[str, int]
) -> Iterator[Difference]:
    """Yield the differences between the current entries of locked teams and those computed from their submissions."""
    scores = read_scores(phase, signature=signature, teams=teams)
    expected = {key: line_of(of_team.entry) for key, of_team in scores.items() if of_team.entry}
    kept = present(boards, teams)
    for key in sorted(expected.keys() | kept.keys()):
        count = len(scores[key].scored) if key in scores else 0
        one = Difference(key, kept.get(key), expected.get(key), count)
        if one.is_new_version or (one.kept and one.kept.submissions != count):
            yield one


def line_of(one: Candidate) -> Line:
    at = in_utc(datetime.fromisoformat(one.submitted_at))
    return Line(one.evaluation_id, one.score, one.low, one.high, at, one.baseline)


def write(phase: Phase, found: Collection[Difference], boards: Mapping[str, int], *, now: datetime) -> None:
    """Replace outdated entries. The caller must have locked the leaderboards and incremented their versions."""
    if changed := [one for one in found if one.is_new_version]:
        closed = [one.kept for one in changed if one.kept]
        # A new version of an entry must not begin before the previous one, even if the clock has been set back.
        at = max([now, *(entry.valid_from for entry in closed)])
        update(Entry, [entry.pk for entry in closed], valid_until=at)
        new = [opened(one, boards, at) for one in changed if one.expected]
        insert(new)
        metric_values.replace(phase, [entry.pk for entry in closed], [entry.pk for entry in new])
    recounted: dict[int, list[int]] = {}
    for one in found:
        if one.kept and not one.is_new_version:
            recounted.setdefault(one.submissions, []).append(one.kept.pk)
    for count, keys in recounted.items():
        update(Entry, keys, submissions=count)


def opened(one: Difference, boards: Mapping[str, int], now: datetime) -> Entry:
    """Return a new, unsaved version of an entry that is valid from `now` onwards."""
    assert one.expected is not None
    kind, team = one.key
    line = one.expected._asdict()
    return Entry(board_id=boards[kind], team_id=team, submissions=one.submissions, valid_from=now, **line)


def raise_all(found: Collection[Difference], boards: Mapping[str, int]) -> datetime:
    """Increment the versions of changed leaderboards, update their entry counts, and return the database's time."""
    changes: dict[tuple[int, int], list[int]] = {}
    for kind in {one.key[0] for one in found}:
        lines = [(one.expected, one.kept and one.kept.line) for one in found if one.key[0] == kind]
        listed = sum((new is not None) - (old is not None) for new, old in lines)
        ranked = sum(is_ranked(new) - is_ranked(old) for new, old in lines)
        changes.setdefault((listed, ranked), []).append(boards[kind])
    return max(raise_versions(keys, listed=listed, ranked=ranked) for (listed, ranked), keys in changes.items())


def is_ranked(line: Line | None) -> bool:
    return line is not None and not line.is_baseline


@transaction.atomic
def follow_team(team: Team) -> None:
    """Update the leaderboards after a team was renamed, disqualified or reinstated, or became a baseline."""
    lock_teams([team.pk])
    listed = Entry.objects.filter(team=team).values("board")
    for phase in Phase.objects.filter(submissions__team=team).distinct():
        refresh(phase, [team.pk])
    boards = Board.objects.filter(pk__in=listed).select_for_update(no_key=True).order_by("pk")
    # Current and earlier leaderboards show the team's name, so the leaderboard versions are incremented even if no
    # entry changes.
    Board.objects.filter(pk__in=[board.pk for board in boards]).update(version=F("version") + 1)
