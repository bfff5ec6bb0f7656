"""A switch between a few versions of the same page."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One version: its name, its address, and whether it is the one shown."""

    title: str
    query: str
    current: bool
