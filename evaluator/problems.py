"""What can be wrong with a submission or a truth, said with code, place and what to do."""

from dataclasses import asdict, dataclass, field
from typing import Any

SHOWN_PER_CODE = 20


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
    """Defects and notices of one file: all counted, the first 20 of each code kept, in file order.

    >>> findings = Findings()
    >>> findings.add(Problem("empty", "the file is empty"))
    >>> findings.total
    1
    """

    errors: list[Problem] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

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

    def add(self, problem: Problem) -> None:
        """Count a defect, and keep it while fewer than 20 of its code are kept."""
        seen = self.counts.get(problem.code, 0)
        self.counts[problem.code] = seen + 1
        if seen < SHOWN_PER_CODE:
            self.errors.append(problem)

    def notice(self, code: str, message: str, count: int) -> None:
        """Add a notice where there is something to notice."""
        if count:
            self.notices.append(Notice(code, message, count))

    def as_dict(self) -> dict[str, Any]:
        """Return the object that ``podium check --json`` prints."""
        return {
            "errors": [problem.as_dict() for problem in self.errors],
            "total": self.total,
            "counts": self.counts,
            "notices": [asdict(notice) for notice in self.notices],
        }


class PodiumError(Exception):
    """Anything the evaluator says on purpose."""


class InvalidSubmission(PodiumError):
    """The submission is at fault; its author can mend it."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(f"{findings.total} defects in the submission")
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


class InvalidParameters(PodiumError):
    """A parameter is unknown, out of range, or not the one a prepared truth was made with."""
