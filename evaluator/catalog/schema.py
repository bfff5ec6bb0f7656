"""Defines the types that declare a track: its files, metrics, tables and limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evaluator.catalog.forms import Form
from evaluator.catalog.parameter import Parameter
from evaluator.problems import MOST_DEFECTS, InvalidParameters


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on a submitted file. If a limit is exceeded, a defect is reported and reading stops.

    Attributes
    ----------
    decompressed_bytes, decompressed_ratio : int
        Maximum size of a gzipped file after decompression, and its maximum ratio to the compressed size. The same
        limits apply to all masks of a file together.
    gzip_members, gzip_member_bytes : int
        A gzip file may have more than ``gzip_members`` members only if their mean size is at least
        ``gzip_member_bytes``.
    line_bytes, number_characters, text_characters, json_bytes : int
    boxes, images : int
        Maximum number of predictions and of images. Blank and invalid rows are counted too.
    defects : int
        Maximum number of defects to count.
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
    """A file in a ground truth folder, plain or gzipped. If the name ends with a slash, it is a subfolder.

    Attributes
    ----------
    name : str
    columns : tuple of str
        Required columns of a CSV file.
    meaning : str
    required : bool
    extras : tuple of str
        Optional columns that do not affect the score. For each of these columns, reports contain a table with one score
        per column value.
    or_else : tuple of str
        Names of other files. If all of them are present, this file may be missing, even if it is required.
    """

    name: str
    columns: tuple[str, ...]
    meaning: str
    required: bool = True
    extras: tuple[str, ...] = ()
    or_else: tuple[str, ...] = ()


IMAGES = TruthFile(
    "images.csv",
    ("ImageID",),
    "every image of the test set; if this file exists, any other image is reported as a defect",
    required=False,
)
SALT = TruthFile(
    "salt.txt", (), "32 hexadecimal digits, from which the split and the bootstrap draws are derived", required=False
)
USAGE = TruthFile("usage.csv", ("ImageID", "Usage"), "Public, Private or Ignored for every image", required=False)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a track. Larger values are better.

    Attributes
    ----------
    name, title, meaning : str
    brief : str
        The column heading on leaderboards. If empty, leaderboards show the metric only if it is the headline metric.
    share : str
        ``plain`` for a proportion (hits divided by trials), ``mean`` for a mean of proportions, empty for other
        metrics. Proportions near 0 and 1 need a special method for confidence intervals.
    """

    name: str
    title: str
    meaning: str
    brief: str = ""
    share: Literal["", "plain", "mean"] = ""


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """A column of a table in a report.

    The column contains fractions from 0 to 1, gains in a score, other numbers, strings, or Booleans, depending on its
    kind.
    """

    name: str
    title: str
    kind: Literal["fraction", "gain", "number", "text", "switch"] = "fraction"


POSITIVES = ReportColumn("truths", "Objects", "number")


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table in a report, in addition to the table of classes.

    An example is a table with one score for each kind of image background.

    Attributes
    ----------
    name, title : str
    columns : tuple of ReportColumn
    meanings : mapping of str to str
        Explanations of the words in the first column.
    shown : int
        Number of rows that a page shows.
    """

    name: str
    title: str
    columns: tuple[ReportColumn, ...]
    meanings: Mapping[str, str] = field(default_factory=dict)
    shown: int = 60


@dataclass(frozen=True, slots=True)
class Modules:
    """The names of the modules that implement a track. The web process can read the names without importing numpy.

    Only a scorer is required. :mod:`evaluator.tracks` loads the modules, which implement the protocols in
    :mod:`evaluator.tracks.interface`.

    Attributes
    ----------
    scorer : str
        Name of the module that defines ``SCORER``, the reference implementation.
    compiler : str
        Name of the module that compiles ground truth folders; if empty, the scorer compiles them.
    fast_path : str
        Name of the module that scores with compiled kernels.
    explanation : str
        Name of the module that explains scores.
    synthesizer : str
        Name of the module that defines ``SYNTHESIZER``, which generates data. If empty, the data is generated from the
        declared columns.
    statistics : str
        Name of the module that describes a ground truth to its organizers; if empty, only the images are counted.
    """

    scorer: str
    compiler: str = ""
    fast_path: str = ""
    explanation: str = ""
    synthesizer: str = ""
    statistics: str = ""


@dataclass(frozen=True, slots=True)
class Track:
    """The declaration of a track: its files, parameters, metrics and report tables.

    Attributes
    ----------
    truth : tuple of TruthFile
        The ground truth files that are specific to this track. :attr:`truth_files` adds the files that every track may
        have.
    metrics : tuple of Metric
        The first metric is the headline.
    class_word : str
        What a row of the table of classes describes, such as ``class`` or ``relation``.
    class_columns : tuple of ReportColumn
        Columns of the class rows, after ``label`` and ``name``.
    tables : tuple of ReportTable
        Further tables of a report.
    explained_columns : tuple of ReportColumn
        Columns that an explanation adds to the class rows.
    explained_tables : tuple of ReportTable
        Tables that an explanation or a different evaluation protocol adds. A report leaves out tables that do not
        apply.
    curves : tuple of str
        Columns whose values are areas under precision/recall curves. Callers can request these curves.
    interpolated : bool
        Whether the curves are interpolated before their areas are computed.
    empty : str
        Result for a file without predictions: ``zero``, ``rejected``, or ``base rate``, the score of a random guess.
    modules : Modules
    intervals : bool
        Whether the scores have confidence intervals.
    gives_candidates : bool
        Whether participants get the list of candidates: all possible answers, in shuffled order.
    """

    name: str
    title: str
    summary: str
    truth: tuple[TruthFile, ...]
    form: Form
    metrics: tuple[Metric, ...]
    headline_explained: str
    modules: Modules
    parameters: tuple[Parameter, ...] = ()
    class_word: str = "class"
    class_columns: tuple[ReportColumn, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    explained_columns: tuple[ReportColumn, ...] = ()
    explained_tables: tuple[ReportTable, ...] = ()
    curves: tuple[str, ...] = ()
    interpolated: bool = True
    empty: Literal["zero", "rejected", "base rate"] = "zero"
    intervals: bool = False
    gives_candidates: bool = False

    @property
    def truth_files(self) -> tuple[TruthFile, ...]:
        """All files that a ground truth folder may contain. Tracks can redeclare ``images.csv`` to add columns."""
        shared = (file for file in (IMAGES, USAGE, SALT) if file.name not in {mine.name for mine in self.truth})
        return (*self.truth, *shared)

    @property
    def headline(self) -> str:
        """Name of the headline metric, by which leaderboards are sorted."""
        return self.metrics[0].name

    @property
    def board_metrics(self) -> tuple[Metric, ...]:
        """The metrics that leaderboards show in addition to the headline metric."""
        return tuple(metric for metric in self.metrics if metric.brief)

    def missing(self, is_present: Callable[[str], bool]) -> list[TruthFile]:
        """Return the required ground truth files that are missing.

        A file does not count as missing if all files in its :attr:`~TruthFile.or_else` are present.
        """
        return [
            file
            for file in self.truth_files
            if file.required and not is_present(file.name) and not (file.or_else and all(map(is_present, file.or_else)))
        ]

    def shaping(self, resolved: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters on which a prepared ground truth depends, with their values in ``resolved``."""
        return {parameter.name: resolved[parameter.name] for parameter in self.parameters if parameter.shapes_truth}

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all parameters: the given values, and the defaults of all other parameters.

        Raises
        ------
        InvalidParameters
            If a name is unknown, or if a value is not allowed, by itself or in combination with other values.
        """
        unknown = set(given) - {parameter.name for parameter in self.parameters}
        if unknown:
            allowed = ", ".join(parameter.name for parameter in self.parameters) or "none"
            raise InvalidParameters(f"{sorted(unknown)[0]}: {self.name} has no such parameter; expected: {allowed}")
        values = {p.name: p.parse(given[p.name]) if p.name in given else p.default for p in self.parameters}
        for p in self.parameters:
            if p.only_with and values[p.name] != p.default and values[p.only_with[0]] != p.only_with[1]:
                needed = "=".join(p.only_with)
                raise InvalidParameters(f"{p.name}={given[p.name]} is allowed only with {needed}")
        return values
