"""Creates a ground truth with many large objects per image, and submissions with masks that take long to score."""

import base64
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from pycocotools import mask as coco

from tests.fuzz import hostile

TRACK = "openimages-segmentation"
IMAGES, OBJECTS, LABEL = ("a", "b"), 100, "/m/x"
WIDTH, HEIGHT = 1024, 768
BOX = "XMin,XMax,YMin,YMax,IsGroupOf"
HEADER = "ImageID,ImageWidth,ImageHeight,LabelName,Score,Mask"
# Number of bytes of a mask that are compressed at a time. Larger pieces would be compressed more strongly, but masks
# with a compression ratio above 200 are rejected.
PIECE = 5_000


def write_truth(folder: Path) -> None:
    """Write a ground truth to the folder: two images with a hundred rectangles each."""
    folder.mkdir(parents=True)
    sizes = [f"{image},{WIDTH},{HEIGHT}" for image in IMAGES]
    labels = [f"{image},{LABEL},1" for image in IMAGES]
    found = [(image, box, text) for image in IMAGES for box, text in rectangles()]
    boxes = [f"{image},{LABEL},{box}" for image, box, _ in found]
    masks = [f"{image},{LABEL},{WIDTH},{HEIGHT},{box},{text}" for image, box, text in found]
    write(folder / "images.csv", "ImageID,Width,Height", sizes)
    write(folder / "image_labels.csv", "ImageID,LabelName,Confidence", labels)
    write(folder / "boxes.csv", f"ImageID,LabelName,{BOX}", boxes)
    write(folder / "masks.csv", f"ImageID,LabelName,ImageWidth,ImageHeight,{BOX},Mask", masks)


def write(path: Path, header: str, rows: list[str]) -> None:
    path.write_text("\n".join([header, *rows, ""]))


def rectangles() -> Iterator[tuple[str, str]]:
    """Yield the box of each object, including its group-of flag, and its mask."""
    for number in range(OBJECTS):
        left, top = number * 37 % (WIDTH - 200), 50 + number
        pixels = np.zeros((HEIGHT, WIDTH), np.uint8, order="F")
        pixels[top:650, left : left + 200] = 1
        box = f"{left / WIDTH!r},{(left + 200) / WIDTH!r},{top / HEIGHT!r},{650 / HEIGHT!r},0"
        yield box, hostile.mask(coco.encode(pixels)["counts"])


def good() -> bytes:
    """Return a valid submission whose predictions match every object."""
    rows = [f"{image},{WIDTH},{HEIGHT},{LABEL},0.5,{text}" for image in IMAGES for _, text in rectangles()]
    return "\n".join([HEADER, *rows, ""]).encode()


def striped(pixels: int) -> str:
    """Return a mask whose value changes at every pixel, compressed as strongly as scoring allows."""
    lengths, packer = b"111" + b"0" * (pixels - 3), zlib.compressobj(9)
    pieces = (lengths[start : start + PIECE] for start in range(0, pixels, PIECE))
    packed = b"".join(packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH) for piece in pieces)
    return base64.b64encode(packed + packer.flush()).decode()


def costly(size: int) -> bytes:
    """Return a valid submission of at most ``size`` bytes whose scoring takes as long as possible."""
    text = striped(WIDTH * HEIGHT)
    count = (size - len(HEADER)) // (len(text) + 40)
    rows = [f"{IMAGES[0]},{WIDTH},{HEIGHT},{LABEL},0.{number:06},{text}" for number in range(count)]
    return "\n".join([HEADER, *rows, ""]).encode()
