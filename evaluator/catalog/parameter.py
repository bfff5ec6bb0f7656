"""Defines the type that declares a parameter of a track."""

from dataclasses import dataclass
from math import isfinite
from typing import Any

from evaluator.problems import InvalidParameters


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a track.

    Attributes
    ----------
    name : str
    default : bool, int, float, str or tuple of float
        The default value; its type is the type of the parameter.
    meaning : str
    short : str
        The parameter's name in signatures, which describe how a score was computed; empty if the parameter never
        changes a score.
    choices : tuple of str
        The allowed values of a string parameter.
    low, high : float or None
        The allowed range of a numeric parameter.
    words : (str, str)
        The words for true and false in signatures, if the parameter is Boolean.
    quiet_default : bool
        Whether signatures omit the parameter if it has its default value.
    shapes_truth : bool
        Whether a prepared ground truth depends on this parameter.
    only_with : (str, str) or None
        Name and value of another parameter. This parameter may differ from its default only if the other parameter has
        this value.
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
        """Return ``value`` converted to the type of the parameter.

        Raises
        ------
        InvalidParameters
            If the value is not allowed. The message names the parameter and the reason.
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
            numbers = tuple(self._parse_number(part) for part in parts)
            if not any(numbers):
                raise InvalidParameters(f"{self.name}: at least one of the numbers must be above 0")
            return numbers
        if self.choices:
            if value not in self.choices:
                raise InvalidParameters(f"{self.name}: {value!r} is not one of {', '.join(self.choices)}")
            return value
        return self._parse_integer(value) if isinstance(self.default, int) else self._parse_number(value)

    def _parse_switch(self, value: Any) -> bool:
        known = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        switch = known.get(str(value).lower())
        if switch is None:
            raise InvalidParameters(f"{self.name}: {value!r} is neither true nor false")
        return switch

    def _parse_integer(self, value: Any) -> int:
        number = self._parse_number(value)
        if number != int(number):
            raise InvalidParameters(f"{self.name}: {value!r} is not a whole number")
        return int(number)

    def _parse_number(self, value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidParameters(f"{self.name}: {value!r} is not a number") from None
        too_low = self.low is not None and number < self.low
        too_high = self.high is not None and number > self.high
        if isinstance(value, bool) or not isfinite(number) or too_low or too_high:
            raise InvalidParameters(f"{self.name}: {value!r} is not a number from {self.low} to {self.high}")
        return number

    def written(self, value: Any) -> str:
        """Return ``value`` as it is written in the signature of a score, which describes how the score was computed.

        >>> Parameter("w", 1.0, "weight").written(1.0)
        '1'
        """
        if isinstance(value, bool):
            return self.words[0] if value else self.words[1]
        if isinstance(value, tuple):
            return "/".join(self.written(part) for part in value)
        return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)

    def in_signature(self, value: Any) -> bool:
        """Return whether the signature of a score contains this parameter if it has the given value."""
        return bool(self.short) and not (self.quiet_default and value == self.default)
