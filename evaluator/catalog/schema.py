"""The words in which a track is declared: files, parameters, metrics, limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from evaluator.catalog.forms import Form
from evaluator.problems import MOST_DEFECTS, InvalidParameters


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may hold; beyond it, reading stops with a defect.

    ``decompressed_bytes`` and ``decompressed_ratio`` hold for a gzipped file and, once more, for all masks in it.
    ``gzip_members``: of any size; of more members the mean size must be ``gzip_member_bytes``. ``boxes`` and ``images``
    also limit the rows, blank and bad ones included: one prediction or one image a row. ``defects``: how many are
    counted.
    """

    decompressed_bytes: int = 8 * 2**30
    decompressed_ratio: int = 200
    gzip_members: int = 1_000
    gzip_member_bytes: int = 1_024
    line_bytes: int = 64 * 2**20
    number_characters: int = 64
    text_characters: int = 256
    json_bytes: int = 256 * 2**20
    boxes: int = 50_000_000
    images: int = 2_000_000
    defects: int = MOST_DEFECTS


@dataclass(frozen=True, slots=True)
class TruthFile:
    """One file of a truth folder; every one may be gzipped. A folder has a name that ends with a slash.

    ``or_else``: files that together stand for a required one that is not there. ``extras``: columns that change no
    score and may be missing; reports are sliced by them.
    """

    name: str
    columns: tuple[str, ...]
    meaning: str
    required: bool = True
    extras: tuple[str, ...] = ()
    or_else: tuple[str, ...] = ()


IMAGES = TruthFile(
    "images.csv", ("ImageID",), "every image of the test set; with it, unknown images are defects", required=False
)
SALT = TruthFile(
    "salt.txt", (), "32 hexadecimal digits that the split and the draws of intervals are derived from", required=False
)
USAGE = TruthFile("usage.csv", ("ImageID", "Usage"), "Public, Private or Ignored for every image", required=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One knob of a track, with its default and what it may be.

    ``shapes_truth`` marks the parameters that a prepared truth is compiled with. ``only_with`` names the choice of
    another parameter without which this one stays at its default.
    """

    name: str
    default: Any
    meaning: str
    short: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    words: tuple[str, str] = ("on", "off")
    quiet_default: bool = False
    shapes_truth: bool = False
    only_with: tuple[str, str] | None = None

    def parse(self, value: Any) -> Any:
        """Return ``value`` as this parameter's type.

        Raises
        ------
        InvalidParameters
            With the allowed values.
        """
        if isinstance(self.default, bool):
            return self._parse_switch(value)
        if isinstance(self.default, tuple):
            parts = (
                value.split("/") if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else []
            )
            if len(parts) != len(self.default):
                raise InvalidParameters(
                    f"{self.name}: expected {len(self.default)} numbers, as in {self.written(self.default)}"
                )
            return tuple(self._parse_number(part) for part in parts)
        if self.choices:
            if value not in self.choices:
                raise InvalidParameters(f"{self.name}: {value!r} is not one of {', '.join(self.choices)}")
            return value
        return self._parse_whole(value) if isinstance(self.default, int) else self._parse_number(value)

    def _parse_switch(self, value: Any) -> bool:
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        answer = known.get(str(value).lower())
        if answer is None:
            raise InvalidParameters(f"{self.name}: {value!r} is neither true nor false")
        return answer

    def _parse_whole(self, value: Any) -> int:
        number = self._parse_number(value)
        if number != int(number):
            raise InvalidParameters(f"{self.name}: {value!r} is not a whole number")
        return int(number)

    def _parse_number(self, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise InvalidParameters(f"{self.name}: {value!r} is not a number") from None
        too_low = self.low is not None and number < self.low
        too_high = self.high is not None and number > self.high
        if isinstance(value, bool) or not isfinite(number) or too_low or too_high:
            raise InvalidParameters(f"{self.name}: {value!r} is not a number from {self.low} to {self.high}")
        return number

    def written(self, value: Any) -> str:
        """Return ``value`` as a signature writes it.

        >>> Parameter("w", 1.0, "weight").written(1.0)
        '1'
        """
        if isinstance(value, bool):
            return self.words[0] if value else self.words[1]
        if isinstance(value, tuple):
            return "/".join(self.written(part) for part in value)
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)

    def in_signature(self, value: Any) -> bool:
        """Tell whether a signature names this parameter: where it changes a number."""
        return bool(self.short) and not (self.quiet_default and value == self.default)


@dataclass(frozen=True, slots=True)
class Metric:
    """One number of a report; larger is better in every track so far.

    ``brief`` is its heading on a board beside the headline; without one it is on no board. ``share`` says how its
    interval is made near 0 and 1: ``plain`` is hits / trials, ``mean`` a mean of such shares; anything else is neither.
    """

    name: str
    title: str
    meaning: str
    brief: str = ""
    share: Literal["", "plain", "mean"] = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """One column of a report's table: a fraction of 1, what a score would gain, another number, a text, yes or no."""

    name: str
    title: str
    kind: Literal["fraction", "gain", "number", "text", "switch"] = "fraction"


TRUTHS = Heading("truths", "Objects", "number")


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of a report beside that of the classes, such as the score by background.

    ``meanings``: what the words of its first column mean, where they do not say it themselves. ``shown``: how many of
    its first rows a page shows.
    """

    name: str
    title: str
    columns: tuple[Heading, ...]
    meanings: Mapping[str, str] = field(default_factory=dict)
    shown: int = 60


@dataclass(frozen=True, slots=True)
class Track:
    """One kind of contest: its files, its parameters, its numbers. Declared here, computed elsewhere.

    Attributes
    ----------
    truth : tuple of TruthFile
        The track's own files; those that every track may have come on top.
    metrics : tuple of Metric
        The first one is the headline.
    class_word : str
        What the rows of a report are, one row each: classes, or something else.
    class_columns : tuple of Heading
        Numbers of these rows, beside ``label`` and ``name``.
    tables : tuple of ReportTable
        Further tables of a report.
    explained_columns : tuple of Heading
        Numbers that an explanation adds to the rows of classes.
    explained_tables : tuple of ReportTable
        Tables that an explanation, or another protocol, adds; those that do not apply are left out.
    curves : tuple of str
        Class columns that are areas under precision/recall curves, which can be asked for.
    empty : str
        What a file without predictions gets: ``zero``; ``rejected``; or a ``base rate``, the score of a blind guess.
    implementation : str
        Module whose ``CONTEST`` computes it; only its name, for pages know tracks and must not load numpy.
    intervals : bool
        Whether its module hands over a sample of the images, from which scores get intervals.
    gives_candidates : bool
        Whether participants get a file of everything that a submission may choose from, in shuffled order.
    world : str
        Module whose ``WORLD`` synthesizes it; without one it is made up from the columns.
    """

    name: str
    title: str
    summary: str
    truth: tuple[TruthFile, ...]
    form: Form
    metrics: tuple[Metric, ...]
    headline_explained: str
    implementation: str
    parameters: tuple[Parameter, ...] = ()
    class_word: str = "class"
    class_columns: tuple[Heading, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    explained_columns: tuple[Heading, ...] = ()
    explained_tables: tuple[ReportTable, ...] = ()
    curves: tuple[str, ...] = ()
    empty: Literal["zero", "rejected", "base rate"] = "zero"
    intervals: bool = False
    gives_candidates: bool = False
    world: str = ""

    @property
    def truth_files(self) -> tuple[TruthFile, ...]:
        """Every file that a truth folder may hold; a track may declare ``images.csv`` with more columns."""
        shared = (file for file in (IMAGES, USAGE, SALT) if file.name not in {mine.name for mine in self.truth})
        return (*self.truth, *shared)

    @property
    def headline(self) -> str:
        """Name of the metric that a leaderboard sorts by: the first one."""
        return self.metrics[0].name

    @property
    def board_metrics(self) -> tuple[Metric, ...]:
        """Those that stand beside the headline on a board."""
        return tuple(metric for metric in self.metrics if metric.brief)

    def missing(self, stands: Callable[[str], bool]) -> list[TruthFile]:
        """Return the truth files that are required and neither there nor stood for; ``stands`` tells which are."""
        return [
            file
            for file in self.truth_files
            if file.required and not stands(file.name) and not (file.or_else and all(map(stands, file.or_else)))
        ]

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Complete ``given`` with the defaults.

        Raises
        ------
        InvalidParameters
            An unknown name, or a value that is not allowed, alone or beside the others.
        """
        unknown = set(given) - {parameter.name for parameter in self.parameters}
        if unknown:
            allowed = ", ".join(parameter.name for parameter in self.parameters) or "none"
            raise InvalidParameters(f"{sorted(unknown)[0]}: no such parameter of {self.name}; there are {allowed}")
        values = {p.name: p.parse(given[p.name]) if p.name in given else p.default for p in self.parameters}
        for p in self.parameters:
            if p.only_with and values[p.name] != p.default and values[p.only_with[0]] != p.only_with[1]:
                needed = "=".join(p.only_with)
                raise InvalidParameters(f"{p.name}={p.written(values[p.name])} is possible with {needed} only")
        return values
