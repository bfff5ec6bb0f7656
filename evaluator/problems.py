"""What can be wrong with a submission or a truth, said with code, place and what to do."""

from dataclasses import asdict, dataclass, field, replace
from typing import Any, NoReturn

SHOWN_PER_CODE = 20
MOST_DEFECTS = 10_000


class Stop(Exception):
    """The rest of the file is not read; the reason is in the findings."""


def visible(text: str) -> str:
    r"""Return ``text`` with everything escaped that is not seen, turns text around or steers a terminal.

    Whatever a message quotes from a file, and whatever is printed of one, passes through here.

    >>> visible("caf\u00e9 \x1b[2J \u202egnp.exe")
    'café \\x1b[2J \\u202egnp.exe'
    """
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


@dataclass(frozen=True, slots=True)
class Problem:
    """One defect of a file, in the words of its author's editor.

    Attributes
    ----------
    code : str
        Stable name that programs match on, such as ``not_finite``.
    message : str
        What stood there and what is allowed; quotes the submission, never the truth.
    line : int or None
        1-based, the header counted as 1.
    column : str or None
        Name of the column.
    image : str or None
        Image of the row.
    token : int or None
        1-based place in a prediction string.
    file : str or None
        Name of the file, for folders of several files (truths).
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
            if text is not None and not text.isprintable():
                object.__setattr__(self, name, visible(text))

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain data; ``file`` only where there is one."""
        fields = asdict(self)
        if self.file is None:
            del fields["file"]
        return fields


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that was scored by the rules but that the author may not have meant."""

    code: str
    message: str
    count: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", visible(self.message))


@dataclass(slots=True)
class Findings:
    """Defects and notices of one file, in file order: the first 20 of each code are kept, the first 10,000 counted.

    Attributes
    ----------
    errors : list of Problem
    counts : dict of code to int
    notices : list of Notice
    most : int
        How many defects are counted.
    more : bool
        Whether reading stopped because of a limit of defects or rows, so that the file may hold more defects.
    truth_notices : list of Notice
        Notices that depend on what is annotated: for those who hold the truth, not for a participant.

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
        """Return the findings of a file with one defect."""
        findings = cls()
        findings.add(problem)
        return findings

    @property
    def total(self) -> int:
        """Number of defects, shown or not."""
        return sum(self.counts.values())

    @property
    def room(self) -> int:
        """Number of defects that are counted from here on."""
        return self.most - self.total

    def shows(self, code: str) -> bool:
        """Tell whether the next defect of a code is kept."""
        return self.counts.get(code, 0) < SHOWN_PER_CODE

    def add(self, problem: Problem) -> None:
        """Count a defect, and keep it while fewer than 20 of its code are kept.

        Raises
        ------
        Stop
            At one defect more than are counted.
        """
        self.count(problem.code, problem)

    def count(self, code: str, problem: Problem | None) -> None:
        """Count a defect; it may be None where 20 of its code are known to be kept.

        Raises
        ------
        Stop
            At one defect more than are counted.
        """
        if self.room <= 0:
            self.more = True
            raise Stop("more defects than are counted")
        seen = self.counts.get(code, 0)
        self.counts[code] = seen + 1
        if problem and seen < SHOWN_PER_CODE:
            self.errors.append(problem)

    def add_unseen(self, code: str, more: int) -> None:
        """Count further defects of a code that are not shown."""
        if more:
            self.counts[code] = self.counts.get(code, 0) + more

    def stop_at(self, problem: Problem) -> NoReturn:
        """Add the last defect: the file has more rows than are read.

        Raises
        ------
        Stop
        """
        self.add(problem)
        self.more = True
        raise Stop(problem.code)

    def notice(self, code: str, message: str, count: int, *, by_truth: bool = False) -> None:
        """Add a notice where there is something to notice; ``by_truth``: the count depends on what is annotated."""
        if count:
            (self.truth_notices if by_truth else self.notices).append(Notice(code, message, count))

    def for_holder(self) -> "Findings":
        """Return the findings with all notices, for somebody who holds the truth."""
        return replace(self, notices=[*self.notices, *self.truth_notices], truth_notices=[])

    def as_dict(self) -> dict[str, Any]:
        """Return what a participant may see; of :meth:`for_holder` the object that ``podium check --json`` prints.

        It has ``more`` only where that is true.
        """
        return {
            "errors": [problem.as_dict() for problem in self.errors],
            "total": self.total,
            **({"more": True} if self.more else {}),
            "counts": self.counts,
            "notices": [asdict(notice) for notice in self.notices],
        }


class PodiumError(Exception):
    """Anything the evaluator says on purpose."""


class InvalidSubmission(PodiumError):
    """The submission is at fault; its author can mend it."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(f"{'more than ' * findings.more}{findings.total} defects in the submission")
        self.findings = findings


class InvalidTruth(PodiumError):
    """The truth is at fault; its organizer can mend it. Everything that was found is said at once."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        super().__init__("; ".join(f"{problem.file}: {problem.message}" for problem in findings.errors[:3]))

    @property
    def problems(self) -> list[Problem]:
        """The faults that are shown: the first 20 of each code."""
        return self.findings.errors


class DamagedTruth(PodiumError):
    """A prepared truth is not what was written, or of another version. Nobody's fault: prepare it again."""

    def __init__(self, file: str, message: str) -> None:
        super().__init__(f"{file}: {message}")
        self.problem = Problem("truth_bad_value", message, file=file)


class InvalidParameters(PodiumError):
    """A parameter is unknown, out of range, or not the one a prepared truth was made with."""
