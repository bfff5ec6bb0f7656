"""The words in which a track is declared: files, columns, parameters, metrics, limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from evaluator.problems import InvalidParameters

Kind = Literal["image", "label", "relation", "number"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may hold; beyond it, reading stops with a defect."""

    decompressed_bytes: int = 8 * 2**30
    decompressed_ratio: int = 200
    line_bytes: int = 64 * 2**20
    number_characters: int = 64
    text_characters: int = 256
    boxes: int = 50_000_000
    images: int = 2_000_000


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a long submission, or one token of a prediction string."""

    name: str
    kind: Kind
    meaning: str


@dataclass(frozen=True, slots=True)
class TruthFile:
    """One file of a truth folder; every one may be gzipped."""

    name: str
    columns: tuple[str, ...]
    meaning: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class Parameter:
    """One knob of a track, with its default and what it may be.

    ``shapes_truth`` marks the parameters that a prepared truth is compiled with.
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
        return self._parse_number(value)

    def _parse_switch(self, value: Any) -> bool:
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        answer = known.get(str(value).lower())
        if answer is None:
            raise InvalidParameters(f"{self.name}: {value!r} is neither true nor false")
        return answer

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
    """One number of a report; larger is better in every track so far."""

    name: str
    title: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Track:
    """One kind of contest: its files, its parameters, its numbers. Declared here, computed in ``evaluator.tracks``."""

    name: str
    title: str
    summary: str
    truth_files: tuple[TruthFile, ...]
    parameters: tuple[Parameter, ...]
    long_columns: tuple[Column, ...]
    tokens: tuple[Column, ...]
    metrics: tuple[Metric, ...]
    class_columns: tuple[str, ...]
    example_rows: tuple[str, str]
    headline_explained: str
    row_columns: tuple[Column, ...] = field(default=(Column("ImageId", "image", "the image's id, text"),))

    @property
    def headline(self) -> str:
        """Name of the metric that a leaderboard sorts by: the first one."""
        return self.metrics[0].name

    @property
    def kaggle_header(self) -> tuple[str, ...]:
        """Column names of the prediction-string shape."""
        return (*(column.name for column in self.row_columns), "PredictionString")

    @property
    def long_header(self) -> tuple[str, ...]:
        """Column names of the one-row-per-prediction shape."""
        return tuple(column.name for column in self.long_columns)

    def resolve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Complete ``given`` with the defaults.

        Raises
        ------
        InvalidParameters
            An unknown name, or a value that is not allowed.
        """
        unknown = set(given) - {parameter.name for parameter in self.parameters}
        if unknown:
            allowed = ", ".join(parameter.name for parameter in self.parameters)
            raise InvalidParameters(f"{sorted(unknown)[0]}: no such parameter of {self.name}; there are {allowed}")
        return {p.name: p.parse(given[p.name]) if p.name in given else p.default for p in self.parameters}
