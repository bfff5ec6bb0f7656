"""Represents the parameters of a track as typed fields."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class TrackParameters:
    """The parameters of a track. A subclass has a field for each parameter that the track's scorer uses.

    A field has the same name as the parameter in the catalogue of tracks.

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
        """Create an object from a mapping of all parameters of the track. Parameters without a field are ignored."""
        return cls(**{each.name: parameters[each.name] for each in fields(cls)})
