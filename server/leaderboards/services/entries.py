"""Keeps the entries of leaderboards: recomputes those of some teams, and writes a new version of what has changed.

`refresh` runs in the transaction of every change that can affect an entry. `rebuild` does the same for a whole phase.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.db import connection, transaction
from django.db.models import F

from server.challenges.locks import lock_teams
from server.challenges.models import Phase, Team
from server.clock import database_now
from server.leaderboards.models import Board, Entry
from server.leaderboards.scored_entries import TeamScores, read_scores
from server.submissions.models import Evaluation

TEAMS_AT_ONCE = 200

Key = tuple[str, int]  # the kind of leaderboard, and the team


@dataclass(frozen=True, slots=True)
class Line:
    """What an entry says. It is a new version if anything but the number of submissions changes."""

    evaluation_id: int | None
    score: float
    low: float | None
    high: float | None
    submitted_at: datetime
    is_baseline: bool

    @classmethod
    def of(cls, entry: Entry) -> "Line":
        return cls(entry.evaluation_id, entry.score, entry.low, entry.high, entry.submitted_at, entry.is_baseline)


@dataclass(frozen=True, slots=True)
class Difference:
    """A present entry that is not what its submissions say. `kept` or `expected` is None where there is no entry."""

    key: Key
    kept: Entry | None
    expected: Line | None
    submissions: int

    @property
    def is_new_version(self) -> bool:
        return self.kept is None or Line.of(self.kept) != self.expected


@transaction.atomic
def refresh(phase: Phase, teams: Iterable[int], signature: str | None = None) -> None:
    """Make the entries of some teams what their submissions say; of one signature, or of all.

    The teams are locked, so that two workers who record scores of one team follow each other.
    """
    refresh_locked(phase, [team.pk for team in lock_teams(teams)], signature)


def refresh_locked(phase: Phase, teams: Collection[int], signature: str | None = None) -> None:
    """Do the same in the transaction of a caller who has locked the teams."""
    for one in [signature] if signature is not None else signatures_of(phase, teams):
        if found := list(differences(phase, teams, signature=one)):
            write(phase, found, signature=one)


def rebuild(phase: Phase) -> None:
    """Make the entries of all teams of a phase what their submissions say."""
    for teams in batches_of_teams(phase):
        refresh(phase, teams)


@transaction.atomic
def recount(phase: Phase) -> None:
    """Count the entries of a phase's leaderboards again."""
    for board in Board.objects.select_for_update(no_key=True).filter(phase=phase).order_by("pk"):
        present = Entry.objects.present().filter(board=board)
        board.listed, board.ranked = present.count(), present.filter(is_baseline=False).count()
        board.save(update_fields=["listed", "ranked"])


def batches_of_teams(phase: Phase) -> Iterator[list[int]]:
    """Yield the ids of a challenge's teams, some at a time."""
    teams = list(Team.objects.filter(challenge=phase.challenge_id).order_by("pk").values_list("pk", flat=True))
    return (teams[start : start + TEAMS_AT_ONCE] for start in range(0, len(teams), TEAMS_AT_ONCE))


def signatures_of(phase: Phase, teams: Collection[int]) -> list[str]:
    """Return every signature with a score or an entry of these teams."""
    scored = Evaluation.objects.filter(submission__phase=phase, submission__team__in=teams)
    listed = Entry.objects.present().filter(board__phase=phase, team__in=teams)
    found = {*scored.values_list("signature", flat=True), *listed.values_list("board__signature", flat=True)}
    return sorted(found)


def differences(phase: Phase, teams: Collection[int], *, signature: str) -> Iterator[Difference]:
    """Compare the present entries of locked teams with what their submissions say, and yield what differs."""
    expected = read_scores(phase, signature=signature, teams=teams)
    present = Entry.objects.present().filter(board__phase=phase, board__signature=signature, team__in=teams)
    kept = {(entry.board.kind, entry.team_id): entry for entry in present.select_related("board")}
    for key in sorted(expected.keys() | kept.keys()):
        found = difference(key, kept.get(key), expected.get(key))
        if found is not None:
            yield found


def difference(key: Key, kept: Entry | None, scores: TeamScores | None) -> Difference | None:
    """Compare one entry; None if it is as it should be."""
    expected = line_of(scores) if scores else None
    count = len(scores.scored) if scores else 0
    same = (kept is None and expected is None) or (
        kept is not None and Line.of(kept) == expected and kept.submissions == count
    )
    return None if same else Difference(key, kept, expected, count)


def line_of(scores: TeamScores) -> Line | None:
    one = scores.entry
    if one is None:
        return None
    return Line(one.evaluation_id, one.score, one.low, one.high, one.submitted_at, one.baseline)


def write(phase: Phase, found: Collection[Difference], *, signature: str) -> None:
    """Write what differs, and raise the versions of the leaderboards that show it."""
    boards = lock_boards(phase, signature, found)
    if changed := [one for one in found if one.is_new_version]:
        closed = [one.kept for one in changed if one.kept]
        now = max([database_now(), *(entry.valid_from for entry in closed)])  # a clock may have been set back
        Entry.objects.filter(pk__in=[entry.pk for entry in closed]).update(valid_until=now)
        Entry.objects.bulk_create(opened(one, boards[one.key[0]], now) for one in changed if one.expected)
    recounted = sorted((one.submissions, one.kept.pk) for one in found if one.kept and not one.is_new_version)
    for count, group in groupby(recounted, key=lambda pair: pair[0]):
        Entry.objects.filter(pk__in=[pk for _, pk in group]).update(submissions=count)
    raise_versions(boards, found)


def lock_boards(phase: Phase, signature: str, found: Collection[Difference]) -> dict[str, Board]:
    """Lock the leaderboards of a signature, by kind. They are created with the first entry."""
    if not connection.features.has_select_for_update and all(one.kept for one in found):
        return {one.kept.board.kind: one.kept.board for one in found if one.kept}  # a writer locks the whole database
    boards = Board.objects.filter(phase=phase, signature=signature).select_for_update(no_key=True).order_by("pk")
    locked = {board.kind: board for board in boards}
    if len(locked) < len(Board.Kind):
        new = [Board(phase=phase, kind=kind, signature=signature) for kind in Board.Kind]
        Board.objects.bulk_create(new, ignore_conflicts=True)
        locked = {board.kind: board for board in boards.all()}
    return locked


def opened(one: Difference, board: Board, now: datetime) -> Entry:
    """Return a new version of an entry, valid from now on."""
    assert one.expected is not None
    line = {name: getattr(one.expected, name) for name in Line.__slots__}
    return Entry(board=board, team_id=one.key[1], submissions=one.submissions, valid_from=now, **line)


def raise_versions(boards: Mapping[str, Board], found: Collection[Difference]) -> None:
    """Raise the versions of leaderboards that have changed, and adjust the numbers of their entries."""
    changes: dict[tuple[int, int], list[int]] = {}
    for kind in {one.key[0] for one in found}:
        of_kind = [one for one in found if one.key[0] == kind]
        listed = sum((one.expected is not None) - (one.kept is not None) for one in of_kind)
        ranked = sum(is_ranked(one.expected) - is_ranked(one.kept) for one in of_kind)
        changes.setdefault((listed, ranked), []).append(boards[kind].pk)
    for (listed, ranked), keys in changes.items():
        Board.objects.filter(pk__in=keys).update(
            version=F("version") + 1, listed=F("listed") + listed, ranked=F("ranked") + ranked
        )


def is_ranked(line: Line | Entry | None) -> bool:
    return line is not None and not line.is_baseline


@transaction.atomic
def follow_team(team: Team) -> None:
    """Follow a change of a team's row: its name, whether it is a baseline, whether it is disqualified."""
    lock_teams([team.pk])
    listed = Entry.objects.present().filter(team=team).values("board")
    for phase in Phase.objects.filter(submissions__team=team).distinct():
        refresh(phase, [team.pk])
    boards = Board.objects.filter(pk__in=listed).select_for_update(no_key=True).order_by("pk")
    Board.objects.filter(pk__in=[board.pk for board in boards]).update(version=F("version") + 1)  # they show its name
