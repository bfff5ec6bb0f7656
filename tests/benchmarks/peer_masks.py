"""Decodes all masks of a file with pycocotools, compares them with the objects, and prints the CPU time in seconds.

Usage: `peer_masks.py TRUTH PREDICTIONS`: a ground truth folder, and a file with prediction strings. All masks are
decoded from base64 and zlib. The masks of one class in an image are compared with all objects of this class by one call
of `iou`, which decodes their run lengths. If there is no such object, `area` decodes the run lengths. Reading the files
and finding the objects is not measured.
"""

import json
import sys
import zlib
from base64 import b64decode
from collections import defaultdict
from pathlib import Path
from time import process_time

from pycocotools import mask as coco


def ancestors(node, above, found):
    """Map each class below a node of the hierarchy to its ancestors, without the root, in `found`. Return `found`."""
    for child in node["Subcategory"]:
        found[child["LabelName"]] = above
        ancestors(child, {*above, child["LabelName"]}, found)
    return found


def objects_of(truth):
    """Return, for each (image, label), a list of object masks, and a list that states which objects are groups.

    An object also has an entry for each ancestor of its label.
    """
    found = defaultdict(lambda: ([], []))
    above = ancestors(json.loads((truth / "hierarchy.json").read_text()), set(), {})
    with (truth / "masks.csv").open() as lines:
        next(lines)
        for line in lines:
            image, label, width, height, *_, group, text = line.rstrip("\n").split(",")
            mask = {"size": [int(height), int(width)], "counts": zlib.decompress(b64decode(text))}
            for name in {label, *above[label]}:
                masks, groups = found[image, name]
                masks.append(mask)
                groups.append(group == "1")
    return found


def main(truth, predictions):
    objects, images = objects_of(Path(truth)), []
    with Path(predictions).open() as lines:
        next(lines)
        for line in lines:
            image, width, height, string = line.rstrip("\n").split(",")
            tokens = string.split(" ") if string else []
            images.append((image, [int(height), int(width)], tokens[::3], tokens[2::3]))
    before = process_time()
    for image, size, labels, texts in images:
        by_label = defaultdict(list)
        for label, text in zip(labels, texts, strict=True):
            by_label[label].append({"size": size, "counts": zlib.decompress(b64decode(text))})
        for label, masks in by_label.items():
            if (image, label) in objects:
                coco.iou(masks, *objects[image, label])
            else:
                coco.area(masks)
    print(process_time() - before)


main(*sys.argv[1:])
