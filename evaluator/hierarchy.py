"""The class hierarchy: which labels stand above and below each label."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

MAX_DEPTH = 100


class HierarchyCycle(ValueError):
    """A label is above itself; ``path`` is the place in the JSON where the circle closes."""

    def __init__(self, labels: Sequence[str], path: str) -> None:
        self.path = path
        super().__init__(f"{' > '.join(labels)}: a label is its own ancestor; remove one of these steps")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Ancestors and descendants of every label, without the root and without the label itself.

    One label may stand at several places: its ancestors are the union over all of them. Only ``Subcategory``
    counts; ``Part`` does not make an ancestor. Source: the Open Images V4 paper, 5.2.1.

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
        """Invert the ancestors."""
        below: dict[str, set[str]] = {label: set() for label in self.ancestors}
        for label, above in self.ancestors.items():
            for ancestor in above:
                below[ancestor].add(label)
        object.__setattr__(self, "descendants", {label: frozenset(found) for label, found in below.items()})

    @classmethod
    def of(cls, tree: Any) -> "Hierarchy":
        """Read nested ``{"LabelName": …, "Subcategory": […]}``.

        Raises
        ------
        ValueError
            Where a node has no text ``LabelName``, or ``Subcategory`` is not a list.
        HierarchyCycle
            Where a label is above itself, in one place or over several.
        """
        above: dict[str, set[str]] = {}
        steps: dict[tuple[str, str], str] = {}
        for label, path, place in _walk(tree, (), "$"):
            above.setdefault(label, set()).update(path)
            if path:
                steps.setdefault((path[-1], label), place)
        _refuse_cycles(steps)
        root = tree["LabelName"]
        above.pop(root, None)
        return cls(root, {label: frozenset(found - {label, root}) for label, found in above.items()})


def _refuse_cycles(steps: Mapping[tuple[str, str], str]) -> None:
    """Raise HierarchyCycle where steps from a label to the one below it lead back; each step has its place."""
    graph: dict[str, set[str]] = {}
    for parent, child in steps:
        graph.setdefault(child, set()).add(parent)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        labels: list[str] = error.args[1]  # each is the parent of the next
        raise HierarchyCycle(labels, steps[labels[-2], labels[-1]]) from None


def _walk(node: Any, path: tuple[str, ...], place: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield each node's label, the labels on its way from the root, and its place in the JSON."""
    if not isinstance(node, dict) or not isinstance(node.get("LabelName"), str):
        raise ValueError("a node has no LabelName")
    children = node.get("Subcategory", [])
    if not isinstance(children, list) or len(path) > MAX_DEPTH:
        raise ValueError(f"Subcategory of {node['LabelName']} is not a list of nodes, or nested over {MAX_DEPTH} deep")
    yield node["LabelName"], path, place
    for number, child in enumerate(children):
        yield from _walk(child, (*path, node["LabelName"]), f"{place}.Subcategory[{number}]")
