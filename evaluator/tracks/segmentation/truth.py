"""Compile the truth of a segmentation track: boxes and their masks, expanded by the hierarchy, by image and class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files import numbers
from evaluator.files.folder import TruthFolder, coded
from evaluator.files.masks import MaskReader
from evaluator.files.tables import TruthTable
from evaluator.tracks.checking import check_boxes, checked
from evaluator.tracks.detection.summary import count_objects
from evaluator.tracks.shared.labels import Labelling, expanded
from evaluator.tracks.shared.truth_warnings import warn_duplicates
from evaluator.tracks.shared.usage import usage_of
from evaluator.truth import Truth

CORNERS = ("XMin", "XMax", "YMin", "YMax")
IMAGES, SIDES = "images.csv", ("Width", "Height")
Sides = tuple[NDArray[np.int64], NDArray[np.int64]]  # widths, heights
NO_MASK = -1


@dataclass(frozen=True, slots=True)
class Objects:
    """Rows of a table of objects; arrays of shape (N,), boxes (N, 4)."""

    images: NDArray[np.int64]
    labels: NDArray[np.int64]
    boxes: NDArray[np.float64]
    groups: NDArray[np.bool_]

    @classmethod
    def of(cls, table: TruthTable, labelling: Labelling) -> "Objects":
        """Read a table; faults are noted."""
        boxes = table.numbers(*CORNERS)
        check_boxes(table, boxes)
        images = coded(table.texts("ImageID"), labelling.images)
        labels = coded(table.texts("LabelName"), labelling.labels)
        return cls(images, labels, boxes, table.integers("IsGroupOf") != 0)

    def __getitem__(self, chosen: NDArray[np.int64]) -> "Objects":
        """Return the chosen ones."""
        return Objects(self.images[chosen], self.labels[chosen], self.boxes[chosen], self.groups[chosen])

    def with_(self, other: "Objects") -> "Objects":
        """Return these and the others."""
        names = ("images", "labels", "boxes", "groups")
        return Objects(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def signs(self) -> list[tuple[object, ...]]:
        """Return what a box and its mask have in common."""
        columns = self.images.tolist(), self.labels.tolist(), map(tuple, self.boxes.tolist()), self.groups.tolist()
        return list(zip(*columns, strict=True))


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth of a folder.

    Its arrays: ``verified`` (sorted image × class keys); objects by kind, sorted by key and then in file order:
    ``mask_keys`` with ``masks`` (places in the text ``masks``), ``group_mask_keys`` with ``group_masks``,
    ``box_keys`` with ``boxes`` (box only), ``group_box_keys`` with ``group_boxes``; ``widths`` and ``heights`` of the
    images, 0 where nothing is known of them; ``areas`` of the masks; ``ancestors``, ``ancestor_ends``, ``usage`` and
    ``objects`` as in detection.

    Raises
    ------
    InvalidTruth
        With every fault of every file.
    """
    tables = {name: folder.table(name) for name in ("boxes.csv", "masks.csv", "image_labels.csv")}
    labelling = Labelling.of(folder, tables, expand=parameters["expand_hierarchy"])
    boxed, masked = (Objects.of(tables[name], labelling) for name in ("boxes.csv", "masks.csv"))
    warn_duplicates(tables["boxes.csv"], ("ImageID", "LabelName", *CORNERS), "box")
    warn_duplicates(tables["masks.csv"], ("ImageID", "LabelName", *CORNERS, "Mask"), "mask")
    listed = _listed_sizes(folder, labelling.images)
    (widths, heights), masks = _masks(tables["masks.csv"], masked.images, len(labelling.images), listed)
    usage = usage_of(folder, labelling.images)
    folder.faults.check()

    objects, mask_of = _joined(boxed, masked)
    mask_of[mask_of >= 0] = np.where(masks["area"] > 0, np.arange(len(masks)), NO_MASK)[mask_of[mask_of >= 0]]
    origin, labels = expanded(objects.labels, labelling.above)
    keys = objects.images[origin] * len(labelling.labels) + labels
    verified = np.union1d(labelling.labelled, keys)
    arrays = _by_kind(objects, mask_of, origin, keys)
    count = len(labelling.labels)
    arrays |= {
        "verified": verified,
        "widths": widths,
        "heights": heights,
        "areas": masks["area"],
        "usage": usage,
        "objects": count_objects(arrays["mask_keys"], arrays["group_mask_keys"], usage, count),
        **labelling.ancestor_arrays,
        **labelling.listed_arrays,
    }
    texts = labelling.texts | {"masks": [compressed.decode() for compressed in masks["compressed"]]}
    flags, shaped = labelling.flags(folder), {"expand_hierarchy": parameters["expand_hierarchy"]}
    return checked(folder.faults, Truth(folder.track.name, folder.sha256, shaped, flags, texts, arrays))


def _listed_sizes(folder: TruthFolder, images: Mapping[str, int]) -> Sides | None:
    """Return the width and height of every image as ``images.csv`` gives them; None where it does not.

    A contest needs them: sizes taken from masks would show participants which images have a mask.
    """
    table = folder.table(IMAGES) if IMAGES in folder else None
    if table is not None and set(SIDES) <= set(table.frame.columns):
        return _sides(table, SIDES, coded(table.texts("ImageID"), images), len(images))[1]
    if folder.hidden:
        message = "must give the Width and Height in pixels of every image (columns ImageID,Width,Height)"
        folder.faults.add("truth_missing_file" if table is None else "truth_bad_header", IMAGES, message)
    return None


def _sides(
    table: TruthTable, columns: tuple[str, str], images: NDArray[np.int64], count: int, known: Sides | None = None
) -> tuple[Sides, Sides]:
    """Return two columns of sizes by row, each of shape (rows,), and by image, each of shape (count,), 0 if unknown.

    Rows that contradict ``known``, or else the last row of their image, are faults.
    """
    of_rows, of_images = [], []
    for axis, column in enumerate(columns):
        texts = table.texts(column)
        wrong = np.array([numbers.size_fault(text) is not None for text in texts], bool)
        table.mark(column, wrong, "truth_bad_value", "is not a size in pixels")
        of_row = np.array([1 if bad else int(text) for bad, text in zip(wrong, texts, strict=True)], np.int64)
        of_image = np.zeros(count + 1, np.int64)  # the last one is for images that are not listed
        if known is None:
            of_image[images] = of_row
        else:
            of_image[:-1] = known[axis]
        what = "is not the size of this image's last row" if known is None else f"is not this image's size in {IMAGES}"
        table.mark(column, (images >= 0) & (of_image[images] != of_row), "truth_bad_value", what)
        of_rows.append(of_row)
        of_images.append(of_image[:-1])
    return (of_rows[0], of_rows[1]), (of_images[0], of_images[1])


def _masks(
    table: TruthTable, images: NDArray[np.int64], count: int, listed: Sides | None
) -> tuple[Sides, NDArray[np.void]]:
    """Return the width and height of each image, both of shape (count,), and the masks."""
    (widths, heights), of_images = _sides(table, ("ImageWidth", "ImageHeight"), images, count, listed)
    masks, faults = MaskReader().masks(table.texts("Mask"), heights, widths)
    for what in sorted({message for _, message in faults.values()}):
        wrong = np.isin(np.arange(len(masks)), [place for place, (_, message) in faults.items() if message == what])
        table.mark("Mask", wrong, "truth_bad_value", f"is no mask: {what}")
    empty = masks["area"] == 0
    empty[list(faults)] = False
    table.warn("Mask", empty, "truth_empty_mask", "covers no pixel; the object counts as one with a box only")
    return of_images, masks


def _joined(boxed: Objects, masked: Objects) -> tuple[Objects, NDArray[np.int64]]:
    """Return all objects, in file order, and the mask of each.

    A mask goes with the box of the same image, label, numbers and kind; of equal ones the first with the first. A mask
    without a box is an object too, as in the official code.
    """
    waiting: dict[tuple[object, ...], list[int]] = {}
    for place, sign in enumerate(masked.signs()):
        waiting.setdefault(sign, []).append(place)
    mask_of = [waiting[sign].pop(0) if waiting.get(sign) else NO_MASK for sign in boxed.signs()]
    rest = sorted(place for places in waiting.values() for place in places)
    return boxed.with_(masked[np.array(rest, np.int64)]), np.array([*mask_of, *rest], np.int64)


def _by_kind(
    objects: Objects, mask_of: NDArray[np.int64], origin: NDArray[np.int64], keys: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return the objects with a mask and those with a box only, ordinary ones and groups."""
    order = np.lexsort((origin, keys))
    arrays: dict[str, NDArray[Any]] = {}
    for kind, chosen in (("", ~objects.groups), ("group_", objects.groups)):
        mine = order[chosen[origin[order]]]
        has_mask = mask_of[origin[mine]] >= 0
        with_mask, box_only = mine[has_mask], mine[~has_mask]
        arrays |= {
            f"{kind}mask_keys": keys[with_mask],
            f"{kind}masks": mask_of[origin[with_mask]],
            f"{kind}box_keys": keys[box_only],
            f"{kind}boxes": objects.boxes[origin[box_only]],
        }
    return arrays
