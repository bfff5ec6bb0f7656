"""Compiles a ground truth folder of the segmentation track."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files import numbers
from evaluator.files.folder import TruthFolder, coded
from evaluator.files.masks import MaskReader
from evaluator.files.tables import TruthTable
from evaluator.metrics.masks import Masks
from evaluator.tracks.checking import check_boxes, checked, group_flags, usage_of, warn_duplicates
from evaluator.tracks.segmentation.truth import SegmentationParameters, SegmentationTruth
from evaluator.tracks.shared.label_truth import count_objects
from evaluator.tracks.shared.labels import Labelling, expanded

BOX_COLUMNS = ("XMin", "XMax", "YMin", "YMax")
IMAGES, SIDES = "images.csv", ("Width", "Height")
# Type of image sizes: an array of widths and an array of heights.
Sides = tuple[NDArray[np.int64], NDArray[np.int64]]
NO_MASK = -1


@dataclass(frozen=True, slots=True)
class Objects:
    """The annotated objects from boxes.csv, from masks.csv, or from both files.

    Attributes
    ----------
    images, labels : int64 arrays of shape (N,)
        Image code and label code of each object.
    boxes : float64 array of shape (N, 4)
    groups : bool array of shape (N,)
        Whether each object is a group.
    """

    images: NDArray[np.int64]
    labels: NDArray[np.int64]
    boxes: NDArray[np.float64]
    groups: NDArray[np.bool_]

    @classmethod
    def of(cls, table: TruthTable, labelling: Labelling) -> "Objects":
        """Return the objects in a table. Faults in the table are added to those of the folder."""
        boxes = table.numbers(*BOX_COLUMNS)
        check_boxes(table, boxes)
        images = coded(table.texts("ImageID"), labelling.images)
        labels = coded(table.texts("LabelName"), labelling.labels)
        return cls(images, labels, boxes, group_flags(table))

    def __getitem__(self, chosen: NDArray[np.int64]) -> "Objects":
        """Return the objects with the given indices."""
        return Objects(self.images[chosen], self.labels[chosen], self.boxes[chosen], self.groups[chosen])

    def with_(self, other: "Objects") -> "Objects":
        """Return the objects in ``self``, followed by those in ``other``."""
        names = ("images", "labels", "boxes", "groups")
        return Objects(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def identities(self) -> list[tuple[object, ...]]:
        """Return a tuple (image, label, box, whether it is a group) for each object.

        A box in boxes.csv and a mask in masks.csv with equal tuples describe the same object.
        """
        columns = self.images.tolist(), self.labels.tolist(), map(tuple, self.boxes.tolist()), self.groups.tolist()
        return list(zip(*columns, strict=True))


def compile_truth(folder: TruthFolder, parameters: SegmentationParameters) -> SegmentationTruth:
    """Check a ground truth folder and compile it.

    Raises
    ------
    InvalidTruth
        If there are faults. The exception contains the faults of all files.
    """
    tables = {name: folder.table(name) for name in ("boxes.csv", "masks.csv", "image_labels.csv")}
    labelling = Labelling.of(folder, tables, expand=parameters.expand_hierarchy)
    boxed, masked = (Objects.of(tables[name], labelling) for name in ("boxes.csv", "masks.csv"))
    warn_duplicates(tables["boxes.csv"], ("ImageID", "LabelName", *BOX_COLUMNS), "box")
    warn_duplicates(tables["masks.csv"], ("ImageID", "LabelName", *BOX_COLUMNS, "Mask"), "mask")
    listed = _listed_sizes(folder, labelling.images)
    (widths, heights), masks = _masks(tables["masks.csv"], masked.images, len(labelling.images), listed)
    usage = usage_of(folder, labelling.images)
    folder.faults.check()

    objects, mask_of, alone = _joined(boxed, masked, masks.areas > 0)
    what = "has a mask but no row in boxes.csv with this label, box and IsGroupOf, so it counts as an additional object"
    tables["masks.csv"].warn("ImageID", alone, "truth_mask_without_box", what)
    origin, labels = expanded(objects.labels, labelling.above)
    keys = objects.images[origin] * len(labelling.labels) + labels
    verified = np.union1d(labelling.labelled, keys)
    arrays = _by_kind(objects, mask_of, origin, keys)
    count = len(labelling.labels)
    arrays |= {
        "verified": verified,
        "widths": widths,
        "heights": heights,
        "areas": masks.areas,
        "usage": usage,
        "objects": count_objects(arrays["mask_keys"], arrays["group_mask_keys"], usage, count),
        **labelling.ancestor_arrays,
        **labelling.listed_arrays,
    }
    texts = labelling.texts | {"masks": [run_lengths.decode() for run_lengths in masks.compressed()]}
    flags, shaped = labelling.flags(folder), {"expand_hierarchy": parameters.expand_hierarchy}
    return checked(folder.faults, SegmentationTruth(folder.track.name, folder.sha256, shaped, flags, texts, arrays))


def _listed_sizes(folder: TruthFolder, images: Mapping[str, int]) -> Sides | None:
    """Return the widths and heights in images.csv, each of shape (images,), or None if it has no sizes.

    Challenges require these sizes, because sizes taken from masks would show participants which images have a mask.
    """
    table = folder.table(IMAGES) if IMAGES in folder else None
    if table is not None and set(SIDES) <= set(table.frame.columns):
        return _sides(table, SIDES, coded(table.texts("ImageID"), images), len(images))[1]
    if folder.hidden:
        message = "must contain the Width and Height in pixels of every image (columns ImageID,Width,Height)"
        folder.faults.add("truth_missing_file" if table is None else "truth_bad_header", IMAGES, message)
    return None


def _sides(
    table: TruthTable, columns: tuple[str, str], images: NDArray[np.int64], count: int, known: Sides | None = None
) -> tuple[Sides, Sides]:
    """Return the widths and heights in two columns of a table, for each row and for each image.

    Parameters
    ----------
    columns : names of the columns
    images : int64 array of shape (rows,)
    count : int
        Number of images.
    known : two int64 arrays of shape (count,), optional
        Sizes of the images. A row with a different size is reported as a fault. Without ``known``, the size must equal
        that in the last row with the same image.

    Returns
    -------
    two int64 arrays of shape (rows,), and two int64 arrays of shape (count,) with 0 for an unknown size
    """
    of_rows, of_images = [], []
    for axis, column in enumerate(columns):
        texts = table.texts(column)
        wrong = np.array([numbers.size_defect(text) is not None for text in texts], bool)
        table.mark(column, wrong, "truth_bad_value", "is not a size in pixels")
        of_row = np.array([1 if bad else int(text) for bad, text in zip(wrong, texts, strict=True)], np.int64)
        # A row with an unknown image has the image index -1, which selects the extra last element of `of_image`.
        of_image = np.zeros(count + 1, np.int64)
        if known is None:
            of_image[images] = of_row
        else:
            of_image[:-1] = known[axis]
        what = (
            "differs from the size in the last row of the same image"
            if known is None
            else f"differs from the size of the image in {IMAGES}"
        )
        table.mark(column, (images >= 0) & (of_image[images] != of_row), "truth_bad_value", what)
        of_rows.append(of_row)
        of_images.append(of_image[:-1])
    return (of_rows[0], of_rows[1]), (of_images[0], of_images[1])


def _masks(table: TruthTable, images: NDArray[np.int64], count: int, listed: Sides | None) -> tuple[Sides, Masks]:
    """Return the widths and heights of all images, each of shape (count,), and the masks of all rows."""
    (widths, heights), of_images = _sides(table, ("ImageWidth", "ImageHeight"), images, count, listed)
    reader = MaskReader()
    masks, faults = reader.masks(table.texts("Mask"), heights, widths)
    for what in sorted({message for _, message in faults.values()}):
        wrong = np.isin(np.arange(len(masks)), [row for row, (_, message) in faults.items() if message == what])
        table.mark("Mask", wrong, "truth_bad_value", f"is not a mask: {what}")
    empty = masks["area"] == 0
    empty[list(faults)] = False
    table.warn("Mask", empty, "truth_empty_mask", "covers no pixels; the object is treated as if it had only a box")
    return of_images, Masks(reader.run_lengths.content(), masks["range"], masks["area"])


def _joined(
    boxed: Objects, masked: Objects, has_pixels: NDArray[np.bool_]
) -> tuple[Objects, NDArray[np.int64], NDArray[np.bool_]]:
    """Return all objects, the row of each object in masks.csv or NO_MASK, and which masks have no box in boxes.csv.

    The objects in boxes.csv come first, followed by those that are only in masks.csv.

    A mask belongs to the box with the same image, label, coordinates and IsGroupOf. If several boxes are equal, the
    first mask belongs to the first box, and so on. As in the official Open Images code, a mask without a box is an
    object too. An object with an empty mask counts as an object without a mask.
    """
    unused: dict[tuple[object, ...], list[int]] = {}
    for row, identity in enumerate(masked.identities()):
        unused.setdefault(identity, []).append(row)
    rows = [unused[identity].pop(0) if unused.get(identity) else NO_MASK for identity in boxed.identities()]
    rest = np.array(sorted(row for unused_rows in unused.values() for row in unused_rows), np.int64)
    mask_of = np.concatenate([np.array(rows, np.int64), rest])
    has_mask = mask_of != NO_MASK
    mask_of[has_mask] = np.where(has_pixels[mask_of[has_mask]], mask_of[has_mask], NO_MASK)
    return boxed.with_(masked[rest]), mask_of, np.isin(np.arange(len(has_pixels)), rest)


def _by_kind(
    objects: Objects, mask_of: NDArray[np.int64], origin: NDArray[np.int64], keys: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return the arrays that describe the objects of a ground truth, separately for each kind of object.

    The kinds are ordinary objects and groups, each with and without a mask.

    Parameters
    ----------
    objects : Objects
    mask_of : int64 array of shape (objects,)
        Row of each object in masks.csv, or NO_MASK.
    origin, keys : int64 arrays of shape (N,)
        For each of the N copies, the index of its object, and its key. Each object has a copy for its own label and one
        for each ancestor.
    """
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
