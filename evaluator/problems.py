"""Defines defects of submissions, faults of ground truths, and the exceptions that contain them."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, NoReturn

from evaluator.hidden import is_plain, reveal

SHOWN_PER_CODE = 20
MOST_DEFECTS = 10_000
NOTHING_TO_SCORE = "nothing_to_score"
"""The code of the notice that no prediction in a file can contribute to the score. Servers usually reject the file."""


class Stop(Exception):
    """Raised to stop reading a file after a defect that makes the rest unreadable, or after too many defects."""


def visible(text: str) -> str:
    r"""Return ``text`` with escapes for characters that are invisible, change text direction or control a terminal.

    All text from a file must be passed through this function before it is quoted in a message or printed.

    >>> visible("caf\u00e9 \x1b[2J \u202egnp.exe")
    'café \\x1b[2J \\u202egnp.exe'
    """
    if is_plain(text):
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in reveal(text))


@dataclass(frozen=True, slots=True)
class Problem:
    """A defect of a submission or a fault of a ground truth, with its position in the file.

    Attributes
    ----------
    code : str
        Stable machine-readable name, such as ``not_finite``.
    message : str
        What was found and what was expected. The message may quote the submission, but never the ground truth.
    line : int or None
        Number of the line, as in a text editor. The header is line 1.
    column : str or None
        Name of the column.
    image : str or None
        Id of the image in this line.
    token : int or None
        Position of the token in its prediction string, counting from 1.
    file : str or None
        Name of the file, for a fault of a ground truth.
    """

    code: str
    message: str
    line: int | None = None
    column: str | None = None
    image: str | None = None
    token: int | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        for name in ("message", "column", "image", "file"):
            text = getattr(self, name)
            if text is not None and not is_plain(text):
                object.__setattr__(self, name, visible(text))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a JSON-serializable dict. ``file`` is omitted if it is not set."""
        fields = asdict(self)
        if self.file is None:
            del fields["file"]
        return fields


@dataclass(frozen=True, slots=True)
class Notice:
    """A note for the author of a submission about data that is valid but was probably not intended."""

    code: str
    message: str
    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", visible(self.message))


@dataclass(slots=True)
class Findings:
    """The defects and notices of one file. At most 10,000 defects are counted. The first 20 with each code are stored.

    Attributes
    ----------
    errors : list of Problem
        The stored defects, in file order.
    counts : dict of code to int
    notices : list of Notice
    most : int
        Maximum number of defects to count, by default 10,000.
    more : bool
        Whether the file may have more defects, because reading stopped at a limit on defects or rows.
    truth_notices : list of Notice
        Notices that depend on the annotations. Organizers may see them, but participants must not.

    Examples
    --------
    >>> findings = Findings()
    >>> findings.add(Problem("empty", "the file is empty"))
    >>> findings.total
    1
    """

    errors: list[Problem] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)
    most: int = MOST_DEFECTS
    more: bool = False
    truth_notices: list[Notice] = field(default_factory=list)

    @classmethod
    def of(cls, problem: Problem) -> "Findings":
        """Return findings that contain only the given defect."""
        findings = cls()
        findings.add(problem)
        return findings

    @property
    def total(self) -> int:
        """The number of counted defects, including those that are not stored."""
        return sum(self.counts.values())

    @property
    def room(self) -> int:
        """The number of defects that can still be counted before reading stops."""
        return self.most - self.total

    def shows(self, code: str) -> bool:
        """Return whether the next defect with this code would be stored as well as counted."""
        return self.counts.get(code, 0) < SHOWN_PER_CODE

    def add(self, problem: Problem) -> None:
        """Count a defect, and store it unless 20 defects with this code are already stored.

        Raises
        ------
        Stop
            If the maximum number of defects has already been counted.
        """
        self.count(problem.code, problem)

    def count(self, code: str, problem: Problem | None) -> None:
        """Count a defect with this code, and store it as :meth:`add` does.

        ``problem`` may be None if 20 defects with this code are already stored, because it is not needed then.

        Raises
        ------
        Stop
            If the maximum number of defects has already been counted.
        """
        if self.room <= 0:
            self.more = True
            raise Stop("there are more defects; the rest of the file was not read")
        seen = self.counts.get(code, 0)
        self.counts[code] = seen + 1
        if problem and seen < SHOWN_PER_CODE:
            self.errors.append(problem)

    def add_unseen(self, code: str, more: int) -> None:
        """Increase the number of defects with a code by ``more``, without storing these defects."""
        if more:
            self.counts[code] = self.counts.get(code, 0) + more

    def stop_at(self, problem: Problem) -> NoReturn:
        """Record a defect, and stop reading the file by raising Stop.

        Raises
        ------
        Stop
        """
        self.add(problem)
        self.more = True
        raise Stop(problem.code)

    def notice(self, code: str, message: str, count: int, *, by_truth: bool = False) -> None:
        """Add a notice about ``count`` rows or predictions, unless ``count`` is 0.

        ``by_truth`` must be true if the count depends on the annotations. Participants do not see such a notice.
        """
        if count:
            (self.truth_notices if by_truth else self.notices).append(Notice(code, message, count))

    def reject_if_nothing_to_score(self) -> None:
        """If there is a notice that no prediction in the file can increase the score, replace it with a defect."""
        for notice in (notice for notice in self.notices if notice.code == NOTHING_TO_SCORE):
            self.notices.remove(notice)
            self.add(Problem(NOTHING_TO_SCORE, notice.message))
            return

    def for_organizer(self) -> "Findings":
        """Return the findings for organizers, including notices that depend on the annotations."""
        return replace(self, notices=[*self.notices, *self.truth_notices], truth_notices=[])

    def as_dict(self) -> dict[str, Any]:
        """Return the findings for participants as a JSON-serializable dict.

        The key ``more`` is omitted if it is false. To get the findings for organizers, call :meth:`for_organizer`
        first.
        """
        return {
            "errors": [problem.as_dict() for problem in self.errors],
            "total": self.total,
            **({"more": True} if self.more else {}),
            "counts": self.counts,
            "notices": [asdict(notice) for notice in self.notices],
        }


class PodiumError(Exception):
    """Base class of all exceptions that callers of the evaluator are expected to handle."""


class InvalidSubmission(PodiumError):
    """Raised if a submission has defects that its author can fix."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(f"{'at least ' * findings.more}{findings.total} defects in the submission")
        self.findings = findings


class ChangedSubmission(PodiumError):
    """Raised if a submission changes while it is scored."""

    def __init__(self) -> None:
        super().__init__("the submission has changed since it was read; score it again")


class InvalidTruth(PodiumError):
    """Raised if a ground truth has faults that its organizer can fix."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        super().__init__("; ".join(f"{problem.file}: {problem.message}" for problem in findings.errors[:3]))

    @property
    def problems(self) -> list[Problem]:
        """The stored faults of the ground truth: for each fault code, at most the first 20 faults."""
        return self.findings.errors


class DamagedTruth(PodiumError):
    """Raised if a prepared ground truth is damaged or was written by a different version.

    The ground truth must be prepared again.
    """

    def __init__(self, file: str, message: str) -> None:
        super().__init__(f"{file}: {message}")
        self.problem = Problem("truth_bad_value", message, file=file)


class InvalidKit(PodiumError):
    """Raised if a file is not a check kit, or if the kit has the format of a different version.

    A check kit is a file that participants use to check submissions on their own computers.
    """


class InvalidParameters(PodiumError):
    """Raised if a parameter is unknown or its value is not allowed."""


class PreparedOtherwise(InvalidParameters):
    """Raised if a ground truth was prepared for a different track or with different parameters."""
