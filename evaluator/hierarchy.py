"""Reads a class hierarchy, and stores the ancestors and descendants of each label."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

MAX_DEPTH = 100
SHOWN_CHARACTERS = 256


class InvalidHierarchy(ValueError):
    """Raised if a node of the hierarchy is invalid. ``path`` is the path of the node in the JSON."""

    def __init__(self, message: str, path: str) -> None:
        self.path = path
        super().__init__(message)


class HierarchyCycle(InvalidHierarchy):
    """Raised if a label is its own ancestor. ``path`` is the JSON path of the node that completes the cycle."""

    def __init__(self, labels: Sequence[str], path: str) -> None:
        super().__init__(f"{' > '.join(labels)}: a label is its own ancestor; remove one of these links", path)


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The ancestors and descendants of every label, excluding the root and the label itself.

    A label may have several nodes. Its ancestors are the union of the ancestors of all these nodes. Only
    ``Subcategory`` defines ancestors; ``Part`` does not. Source: the Open Images V4 paper, 5.2.1.

    Examples
    --------
    >>> pets = {"LabelName": "root", "Subcategory": [{"LabelName": "animal", "Subcategory": [{"LabelName": "cat"}]}]}
    >>> Hierarchy.of(pets).ancestors["cat"]
    frozenset({'animal'})
    """

    root: str
    ancestors: Mapping[str, frozenset[str]]
    descendants: Mapping[str, frozenset[str]] = field(init=False)

    def __post_init__(self) -> None:
        """Compute the descendants of each label from the ancestors of all labels."""
        below: dict[str, set[str]] = {label: set() for label in self.ancestors}
        for label, above in self.ancestors.items():
            for ancestor in above:
                below[ancestor].add(label)
        object.__setattr__(self, "descendants", {label: frozenset(found) for label, found in below.items()})

    @classmethod
    def of(cls, tree: Any) -> "Hierarchy":
        """Return the hierarchy defined by nested objects ``{"LabelName": …, "Subcategory": […]}``.

        Raises
        ------
        InvalidHierarchy
            If the ``LabelName`` of a node is not a string, its ``Subcategory`` is not a list, or nesting is too deep.
        HierarchyCycle
            If a label is its own ancestor, within one branch or across several branches.
        """
        above: dict[str, set[str]] = {}
        steps: dict[tuple[str, str], str] = {}
        for label, path, json_path in _walk(tree, (), "$"):
            above.setdefault(label, set()).update(path)
            if path:
                steps.setdefault((path[-1], label), json_path)
        _refuse_cycles(steps)
        root = tree["LabelName"]
        above.pop(root, None)
        return cls(root, {label: frozenset(found - {label, root}) for label, found in above.items()})


def _refuse_cycles(steps: Mapping[tuple[str, str], str]) -> None:
    """Raise HierarchyCycle if the links from parents to children form a cycle.

    ``steps`` maps each link, which is a pair (parent, child), to the path of the child in the JSON.
    """
    graph: dict[str, set[str]] = {}
    for parent, child in steps:
        graph.setdefault(child, set()).add(parent)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        # The labels that form the cycle. Each label is followed by one of its children.
        labels: list[str] = error.args[1]
        raise HierarchyCycle(labels, steps[labels[-2], labels[-1]]) from None


def _walk(node: Any, path: tuple[str, ...], json_path: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield the label of each node, the labels on the path from the root to the node, and the JSON path of the node."""
    if not isinstance(node, dict) or not isinstance(node.get("LabelName"), str):
        raise InvalidHierarchy("a node has no LabelName", json_path)
    children = node.get("Subcategory", [])
    if not isinstance(children, list) or len(path) > MAX_DEPTH:
        message = (
            f"Subcategory of {node['LabelName'][:60]} is not a list of nodes, or is nested more than {MAX_DEPTH} levels"
        )
        raise InvalidHierarchy(message, json_path[:SHOWN_CHARACTERS])
    yield node["LabelName"], path, json_path
    for number, child in enumerate(children):
        yield from _walk(child, (*path, node["LabelName"]), f"{json_path}.Subcategory[{number}]")
