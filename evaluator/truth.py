"""A compiled truth: checked, expanded, sorted, and stored as one memory-mapped file."""

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
from evaluator.salt import image_fraction

IGNORED, PUBLIC, PRIVATE = 0, 1, 2
USAGES = {"ignored": IGNORED, "public": PUBLIC, "private": PRIVATE}

Element = TypeVar("Element", bound=np.generic)
Result = TypeVar("Result")


class Texts(Sequence[str]):
    """A sequence of texts, stored one after another as UTF-8 bytes; a text is decoded when it is read.

    >>> Texts.of(["a", "bc"])[1]
    'bc'
    """

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        self.data = data
        self.ends = ends

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Texts":
        """Store texts and return them as such a sequence."""
        encoded = [text.encode() for text in texts]
        ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), ends)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        """Return one text, or a list of them."""
        if isinstance(place, slice):
            return list(self)[place]
        stop = int(self.ends[place])
        start = int(self.ends[place - 1]) if place % len(self) else 0
        return self.data[start:stop].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        """Iterate over all texts."""
        blob, stops = self.data.tobytes(), self.ends.tolist()
        return (blob[start:stop].decode() for start, stop in zip([0, *stops], stops, strict=False))


class StoredArray(Generic[Element]):
    """A typed member of a truth class that reads one of the truth's arrays.

    Nothing is copied. An array of a prepared file is mapped and verified when it is first used.

    Parameters
    ----------
    name : str
        Name of the array in the truth; if empty, the name of the member.

    Examples
    --------
    A class that declares ``areas`` gives its truths a member ``areas`` with the array of that name.

    >>> class ExampleTruth(Truth):
    ...     areas = StoredArray[np.int64]()
    >>> ExampleTruth("example", "", {}, {}, {}, {"areas": np.array([7])}).areas
    array([7])
    """

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __set_name__(self, owner: type["Truth"], name: str) -> None:
        """Use the name of the member if no name was given."""
        self._name = self._name or name

    @overload
    def __get__(self, truth: None, owner: type["Truth"]) -> Self: ...
    @overload
    def __get__(self, truth: "Truth", owner: type["Truth"]) -> NDArray[Element]: ...
    def __get__(self, truth: "Truth | None", owner: type["Truth"]) -> Self | NDArray[Element]:
        """Return the array, read-only."""
        return self if truth is None else truth.arrays[self._name]


class StoredTexts:
    """A typed member of a truth class that reads one of the truth's sequences of texts.

    Parameters
    ----------
    name : str
        Name of the texts in the truth; if empty, the name of the member.
    """

    def __init__(self, name: str = "") -> None:
        self._name = name

    def __set_name__(self, owner: type["Truth"], name: str) -> None:
        """Use the name of the member if no name was given."""
        self._name = self._name or name

    @overload
    def __get__(self, truth: None, owner: type["Truth"]) -> Self: ...
    @overload
    def __get__(self, truth: "Truth", owner: type["Truth"]) -> Sequence[str]: ...
    def __get__(self, truth: "Truth | None", owner: type["Truth"]) -> Self | Sequence[str]:
        """Return the texts."""
        return self if truth is None else truth.texts[self._name]


@dataclass(frozen=True)
class Truth:
    """The ground truth that submissions are scored against.

    This class has the members that every track shares. A track subclasses it and declares its own members; the keys of
    ``flags``, ``texts`` and ``arrays`` are used inside these classes only.

    Attributes
    ----------
    track : str
    sha256 : str
        Identifies the truth: 64 hexadecimal digits, computed from its files. It is public.
    parameters : mapping
        The parameters that the truth was compiled with; it cannot be used with other values.
    flags : mapping of str to bool
    texts : mapping of str to sequence of str
        A code is an index into such a sequence.
    arrays : mapping of str to array
        Read-only.
    salt : bytes
        Secret from which the split and the bootstrap draws are derived; empty if the truth has none.
    warnings : Findings
        The warnings from compiling the truth folder; a prepared file does not contain them.
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
    """Id of each image, sorted."""
    usage = StoredArray[np.int8]()
    """IGNORED, PUBLIC or PRIVATE for each image, shape (images,)."""

    @classmethod
    def of(cls, truth: "Truth") -> Self:
        """Return a truth as an instance of this class; no data is copied."""
        if isinstance(truth, cls):
            return truth
        return cls(**{each.name: getattr(truth, each.name) for each in fields(cls)})

    def __post_init__(self) -> None:
        """Make all arrays read-only, because scorings share them."""
        if not isinstance(self.arrays, prepared.Mapped):  # Mapped arrays are read-only already.
            for array in self.arrays.values():
                array.flags.writeable = False

    @property
    def images_listed(self) -> bool:
        """Whether the organizer listed all images, so that an image that is not listed is a defect."""
        return self.flags["images_listed"]

    @cached_property
    def image_codes(self) -> dict[str, int]:
        """Code of each image."""
        return {image: code for code, image in enumerate(self.images)}

    @cached_property
    def splits(self) -> dict[str, NDArray[np.bool_]]:
        """Which images belong to each split, shape (images,); there is no ``private`` without private images."""
        usage = self.usage
        splits = {"all": usage != IGNORED, "public": usage == PUBLIC, "private": usage == PRIVATE}
        return splits if splits["private"].any() else {name: splits[name] for name in ("all", "public")}

    def summed_images(self, split: str) -> NDArray[np.bool_]:
        """Return the images whose predictions are summed up for a split, shape (images,).

        Predictions in ignored images are not scored, but summed up as if the images were public. Otherwise the time
        taken would reveal which images are ignored.
        """
        return self.splits[split] | (self.usage == IGNORED) if split != "private" else self.splits[split]

    def for_each_split(self, report: Callable[[str], Result]) -> dict[str, Result]:
        """Call ``report`` for each split, and return the results by name.

        A split that contains every image gets the result of ``all``.
        """
        reports: dict[str, Result] = {}
        for name, in_split in self.splits.items():
            same = "all" in reports and np.array_equal(in_split, self.splits["all"])
            reports[name] = reports["all"] if same else report(name)
        return reports

    def check_unchanged(self) -> None:
        """Raise DamagedTruth if the file was changed since it was loaded."""
        if isinstance(self.arrays, prepared.Mapped):
            self.arrays.check_unchanged()

    def save(self, path: Path) -> None:
        """Write the truth to a file."""
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
        """Map a prepared truth. A process compares each array with its checksum once, when it is first used.

        Parameters
        ----------
        path : Path
        whole : bool
            Whether to compare all arrays at once. Use this in a process that scores many submissions. Otherwise the
            time that a submission takes would depend on which arrays it is the first to use.
        expected : str
            The sha256 that the truth must have; if empty, any sha256 is accepted.

        Raises
        ------
        DamagedTruth
            If the file was not written by :meth:`save` of this version, or if it is not the expected truth. Raised
            later if an array does not match its checksum when it is used.
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
    """Return how many images were private in one truth and are public in another."""
    private = {image for image, usage in zip(before.images, before.usage, strict=True) if usage == PRIVATE}
    public = (image for image, usage in zip(after.images, after.usage, strict=True) if usage == PUBLIC)
    return sum(image in private for image in public)


def drawn_usage(images: Sequence[str], share: float, seed: int, *, salt: bytes = b"") -> bytes:
    """Return a ``usage.csv`` that is public for about ``share`` of the images, the same on every machine.

    An image is public if :func:`evaluator.salt.image_fraction` is below ``share``, and private otherwise. Without a
    salt, anybody who guesses the seed knows the split.

    >>> drawn_usage(["b", "a"], 1.0, 7).split()
    [b'ImageID,Usage', b'a,Public', b'b,Public']
    """
    content = io.StringIO()
    rows = csv.writer(content, lineterminator="\n")
    rows.writerow(("ImageID", "Usage"))
    for image in sorted(images):
        rows.writerow((image, "Public" if image_fraction(salt, seed, image) < share else "Private"))
    return content.getvalue().encode()
