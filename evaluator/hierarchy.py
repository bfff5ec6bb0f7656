"""The class hierarchy: which labels stand above and below each label."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 100


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
        """
        above: dict[str, set[str]] = {}
        for label, path in _walk(tree, ()):
            above.setdefault(label, set()).update(path)
        root = tree["LabelName"]
        above.pop(root, None)
        return cls(root, {label: frozenset(found - {label, root}) for label, found in above.items()})


def _walk(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each node's label with the labels on its way from the root."""
    if not isinstance(node, dict) or not isinstance(node.get("LabelName"), str):
        raise ValueError("a node has no LabelName")
    children = node.get("Subcategory", [])
    if not isinstance(children, list) or len(path) > MAX_DEPTH:
        raise ValueError(f"Subcategory of {node['LabelName']} is not a list of nodes, or nested over {MAX_DEPTH} deep")
    yield node["LabelName"], path
    for child in children:
        yield from _walk(child, (*path, node["LabelName"]))
