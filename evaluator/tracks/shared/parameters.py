"""Parameters of a track as typed fields."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class TrackParameters:
    """The parameters that a track reads; a subclass has a field for each of them, with the name in the catalogue.

    Examples
    --------
    >>> @dataclass(frozen=True, slots=True)
    ... class ExampleParameters(TrackParameters):
    ...     iou_threshold: float
    >>> ExampleParameters.of({"iou_threshold": 0.5, "protocol": "tfod"})
    ExampleParameters(iou_threshold=0.5)
    """

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the values of the fields from all parameters of a scoring."""
        return cls(**{each.name: parameters[each.name] for each in fields(cls)})
