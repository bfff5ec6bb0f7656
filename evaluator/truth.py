"""Defines the compiled form of a ground truth: checked and sorted data that can be stored in a file."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from evaluator import prepared
from evaluator.problems import DamagedTruth, Findings
from evaluator.salt import image_fraction, usage_hash

IGNORED, PUBLIC, PRIVATE = 0, 1, 2
USAGES = {"ignored": IGNORED, "public": PUBLIC, "private": PRIVATE}

Element = TypeVar("Element", bound=np.generic)
Result = TypeVar("Result")


class Texts(Sequence[str]):
    """A sequence of strings that are stored one after another as UTF-8 bytes. Strings are decoded on access.

    >>> Texts.of(["a", "bc"])[1]
    'bc'
    """

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.data = data
        self.ends = ends

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Texts":
        """Return a sequence that stores the given strings."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends)

    def __len__(self) -> int:
        """Return the number of strings."""
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        """Return the string at an index, or a list of the strings in a slice."""
        if isinstance(place, slice):
            return list(self)[place]
        stop = int(self.ends[place])
        start = int(self.ends[place - 1]) if place % len(self) else 0
        return self.data[start:stop].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        """Iterate over all strings."""
        blob, stops = self.data.tobytes(), self.ends.tolist()
        return (blob[start:stop].decode() for start, stop in zip([0, *stops], stops, strict=False))


class StoredMember:
    """A descriptor for ground truth classes that reads data stored under ``name``, by default the attribute's name."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __set_name__(self, owner: type["Truth"], name: str) -> None:
        """Use the name of the attribute if no other name was given."""
        self._name = self._name or name


class StoredArray(StoredMember, Generic[Element]):
    """A descriptor for ground truth classes that reads one of the stored arrays.

    The array is not copied. In a prepared file, the array is memory-mapped, and is verified when it is first used.

    Parameters
    ----------
    name : str
        Name of the array in the ground truth; if empty, the name of the attribute.

    Examples
    --------
    If a class declares ``areas``, its instances have an attribute ``areas``, which is the array of that name.

    >>> class ExampleTruth(Truth):
    ...     areas = StoredArray[np.int64]()
    >>> ExampleTruth("example", "", {}, {}, {}, {"areas": np.array([7])}).areas
    array([7])
    """

    @overload
    def __get__(self, truth: None, owner: type["Truth"]) -> Self: ...
    @overload
    def __get__(self, truth: "Truth", owner: type["Truth"]) -> NDArray[Element]: ...
    def __get__(self, truth: "Truth | None", owner: type["Truth"]) -> Self | NDArray[Element]:
        """Return the stored array, which is read-only."""
        return self if truth is None else truth.arrays[self._name]


class StoredTexts(StoredMember):
    """A descriptor for ground truth classes that reads one of the stored sequences of strings.

    Parameters
    ----------
    name : str
        Name of the sequence in the ground truth; if empty, the name of the attribute.
    """

    @overload
    def __get__(self, truth: None, owner: type["Truth"]) -> Self: ...
    @overload
    def __get__(self, truth: "Truth", owner: type["Truth"]) -> Sequence[str]: ...
    def __get__(self, truth: "Truth | None", owner: type["Truth"]) -> Self | Sequence[str]:
        """Return the stored sequence of strings."""
        return self if truth is None else truth.texts[self._name]


@dataclass(frozen=True)
class Truth:
    """The ground truth with which submissions are compared.

    This class has the attributes that all tracks share. Each track has a subclass that declares more attributes. Only
    these classes access ``flags``, ``texts`` and ``arrays`` by key.

    Attributes
    ----------
    track : str
    sha256 : str
        Identifies the ground truth: 64 hexadecimal digits, computed from its files. The sha256 is public.
    parameters : mapping
        The parameters with which the ground truth was compiled. Scoring must use the same values.
    flags : mapping of str to bool
        Boolean properties, such as ``images_listed``.
    texts : mapping of str to sequence of str
        Ids and names. The code of an id is its index in the sequence.
    arrays : mapping of str to array
        All other data. The arrays are read-only.
    salt : bytes
        Secret from which the split and the bootstrap draws are derived; empty if the ground truth has none.
    warnings : Findings
        The warnings from compiling the ground truth folder. A prepared file does not contain them.
    """

    track: str
    sha256: str
    parameters: Mapping[str, Any]
    flags: Mapping[str, bool]
    texts: Mapping[str, Sequence[str]]
    arrays: Mapping[str, NDArray[Any]] = field(repr=False)
    salt: bytes = field(default=b"", repr=False)
    warnings: Findings = field(default_factory=Findings, repr=False)

    images = StoredTexts()
    """The id of each image, in sorted order."""
    usage = StoredArray[np.int8]()
    """Whether each image is not scored (IGNORED), public (PUBLIC) or private (PRIVATE); shape (images,)."""

    @classmethod
    def of(cls, truth: "Truth") -> Self:
        """Return the same ground truth as an instance of this class, without copying its data."""
        if isinstance(truth, cls):
            return truth
        return cls(**{each.name: getattr(truth, each.name) for each in fields(cls)})

    def __post_init__(self) -> None:
        """Make all arrays read-only, because several scoring runs use them at the same time."""
        if not isinstance(self.arrays, prepared.Mapped):  # Arrays of prepared files are already read-only.
            for array in self.arrays.values():
                array.flags.writeable = False

    @property
    def public_texts(self) -> dict[str, Sequence[str]]:
        """The sequences of strings that participants may know. They do not depend on the annotations."""
        return {"images": self.images}

    @property
    def public_arrays(self) -> dict[str, NDArray[np.int64]]:
        """The arrays that participants may see. They do not depend on the annotations."""
        return {}

    @property
    def images_listed(self) -> bool:
        """Whether the organizer listed all images. If so, a submitted image that is not in the list is a defect."""
        return self.flags["images_listed"]

    @cached_property
    def image_codes(self) -> dict[str, int]:
        """A dict that maps the id of each image to its code."""
        return {image: code for code, image in enumerate(self.images)}

    @cached_property
    def splits(self) -> dict[str, NDArray[np.bool_]]:
        """A mask of the images, shape (images,), for each split. ``private`` is left out if it is empty."""
        usage = self.usage
        splits = {"all": usage != IGNORED, "public": usage == PUBLIC, "private": usage == PRIVATE}
        return splits if splits["private"].any() else {name: splits[name] for name in ("all", "public")}

    @property
    def usage_hash(self) -> str | None:
        """A hash of the usage of all images (public, private or ignored), keyed with the salt; None without a salt."""
        names = {code: name.capitalize() for name, code in USAGES.items()}
        return usage_hash(self.salt, zip(self.images, map(names.__getitem__, self.usage.tolist()), strict=True))

    def summed_images(self, split: str) -> NDArray[np.bool_]:
        """Return a mask of the images whose predictions are processed for a split, shape (images,).

        For ``all`` and ``public``, the ignored images are included. Their predictions do not affect any score, but
        leaving them out would make the scoring time reveal which images are ignored.
        """
        return self.splits[split] | (self.usage == IGNORED) if split != "private" else self.splits[split]

    def for_each_split(self, report: Callable[[str], Result]) -> dict[str, Result]:
        """Call ``report`` with the name of each split, and return a dict that maps each name to the result.

        If another split contains the same images as ``all``, the result for ``all`` is used again.
        """
        reports: dict[str, Result] = {}
        for name, in_split in self.splits.items():
            same = "all" in reports and np.array_equal(in_split, self.splits["all"])
            reports[name] = reports["all"] if same else report(name)
        return reports

    def check_unchanged(self) -> None:
        """Raise DamagedTruth if the prepared file has changed since it was loaded."""
        if isinstance(self.arrays, prepared.Mapped):
            self.arrays.check_unchanged()

    def save(self, path: Path) -> None:
        """Write the prepared ground truth to a file."""
        arrays = {**self.arrays}
        for name, texts in self.texts.items():
            encoded = Texts.of(texts)
            arrays |= {f"{name}.bytes": encoded.data, f"{name}.ends": encoded.ends}
        about = {
            "track": self.track,
            "sha256": self.sha256,
            "parameters": self.parameters,
            "flags": self.flags,
            "salt": self.salt.hex(),
            "texts": list(self.texts),
        }
        prepared.write(path, about, arrays)

    @classmethod
    def load(cls, path: Path, *, whole: bool = False, expected: str = "") -> Self:
        """Memory-map a prepared ground truth. By default, arrays are verified against their checksums on first use.

        Parameters
        ----------
        path : Path
        whole : bool
            Whether to verify the checksums of all arrays immediately. Use this option in a process that scores
            many submissions. Otherwise, the first submission that uses an array would take longer.
        expected : str
            The sha256 that the ground truth must have; if empty, any sha256 is accepted.

        Raises
        ------
        DamagedTruth
            If the file was not written by :meth:`save` of this version, or if it is not the expected ground truth. The
            exception is also raised later, if an array does not match its checksum when it is first used.
        """
        header, arrays = prepared.opened(path)
        if expected and header["sha256"] != expected:
            raise DamagedTruth(path.name, "is not the expected truth; prepare it again")
        texts = {name: Texts(arrays[f"{name}.bytes"], arrays[f"{name}.ends"]) for name in header["texts"]}
        if whole:
            arrays.verify()
        own = arrays.without({f"{name}.{part}" for name in texts for part in ("bytes", "ends")})
        salt = bytes.fromhex(header["salt"])
        return cls(header["track"], header["sha256"], header["parameters"], header["flags"], texts, own, salt)


def newly_public(before: Truth, after: Truth) -> int:
    """Return the number of images that are private in one ground truth and public in another."""
    private = {image for image, usage in zip(before.images, before.usage, strict=True) if usage == PRIVATE}
    public = (image for image, usage in zip(after.images, after.usage, strict=True) if usage == PUBLIC)
    return sum(image in private for image in public)


def drawn_usage(images: Sequence[str], share: float, seed: int, *, salt: bytes = b"") -> bytes:
    """Return the content of a ``usage.csv`` that makes approximately the fraction ``share`` of the images public.

    The result is the same on all machines. An image is public if :func:`evaluator.salt.image_fraction` is below
    ``share``, and private otherwise. Without a secret salt, anyone who guesses the seed (here 7) can compute the split.

    >>> drawn_usage(["b", "a"], 1.0, 7).split()
    [b'ImageID,Usage', b'a,Public', b'b,Public']
    """
    content = io.StringIO()
    rows = csv.writer(content, lineterminator="\n")
    rows.writerow(("ImageID", "Usage"))
    for image in sorted(images):
        rows.writerow((image, "Public" if image_fraction(salt, seed, image) < share else "Private"))
    return content.getvalue().encode()
