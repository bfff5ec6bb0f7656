"""Creates challenges whose ground truths contain unique planted values.

If an output of the service contains a planted value, the ground truth has leaked.
"""

import json
import random
import re
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from evaluator.catalog import TRACKS, Track
from evaluator.synthesis import synthesize

IMAGES, QUALITY = 12, 0.6
SHEET = """\
slug: flows
title: Flows
visibility: public
phases:
"""
PHASE = """\
  - {{slug: {slug}, title: {slug}, track: {slug}, quota: {{per_day: 50, attempts_per_day: 50}}}}
"""
DECIMAL = re.compile(r"\b0\.\d{6}\b")
PIXELS = re.compile(r'"boxes": \[\[[^}]*?\]\]')
TEXT = re.compile(r'("(?:phrase|text)": "[^"]*)"')
MASK = re.compile(r",(eA[\w+/=]{20,})$", re.MULTILINE)
DIGITS = 10


@dataclass
class Planted:
    """The values that were planted in ground truths, grouped by who may see them.

    Nobody may see the values in `hidden`. The class names in `named` may appear only in check kits (files for offline
    checks) and in outputs for organizers. Only organizers may see the values in `quoted`, because the check of a bundle
    quotes faulty cells.
    """

    hidden: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    quoted: set[str] = field(default_factory=set)
    # Maps each image to its usage (public or private) and its classes.
    facts: dict[str, set[str]] = field(default_factory=dict)

    def with_hidden(self, values: set[str]) -> "Planted":
        return replace(self, hidden=self.hidden | values)

    @property
    def all(self) -> set[str]:
        return self.hidden | self.named | self.quoted


class Planting:
    """A synthesized ground truth that is changed to contain unique values, and a submission without these values."""

    def __init__(self, track: Track, folder: Path, planted: Planted) -> None:
        self.track, self.folder, self.planted = track, folder, planted
        self.chance = random.Random(f"planted {track.name}")
        synthesize(track.name, folder, images=IMAGES, qualities=(QUALITY,))
        self.truth = {path.name: path.read_text() for path in (folder / "truth").iterdir()}
        long = "-long" if len(track.form.shapes) > 1 else ""
        self.file = folder / "submissions" / f"quality-{QUALITY:.2f}{long}.{track.form.suffix}"
        self.submission = self.file.read_text()

    def word(self) -> str:
        return "".join(self.chance.choices("bcdfghkmpqrtvwxz", k=12))

    def plant(self) -> None:
        """Put planted values into the ground truth files, and check that the submission contains none of them."""
        self.plant_numbers()
        self.plant_masks()
        self.plant_texts()
        self.plant_class()
        self.plant_usage()
        for name, text in self.truth.items():
            (self.folder / "truth" / name).write_text(text)
        self.file.write_text(self.submission)
        assert not [value for value in self.planted.all if value in self.submission.replace(".", "")]

    def plant_numbers(self) -> None:
        """Append digits to the coordinates in the ground truth. In CSV files, equal numbers get the same digits."""

        def longer(found: re.Match[str]) -> str:
            more = f"{int(sha256(found[0].encode()).hexdigest(), 16):d}"[:DIGITS]
            self.planted.hidden.add(f"{found[0]}{more}".partition(".")[2].lstrip("0")[:DIGITS])
            return f"{found[0]}{more}"

        def fractional(found: re.Match[str]) -> str:
            return re.sub(r"\d+", lambda one: f"{one[0]}.{self.fraction(one[0])}", found[0])

        for name in ("boxes.csv", "masks.csv", "relationships.csv"):
            if name in self.truth:
                self.truth[name] = DECIMAL.sub(longer, self.truth[name])
        if "phrases.jsonl" in self.truth:
            self.truth["phrases.jsonl"] = PIXELS.sub(fractional, self.truth["phrases.jsonl"])

    def fraction(self, whole: str) -> str:
        """Return random digits to append to an integer coordinate, and add the result to the planted values."""
        digits = "".join(self.chance.choices("123456789", k=DIGITS))
        self.planted.hidden.add(f"{whole}{digits}"[: DIGITS + len(whole) - 1].lstrip("0"))
        return digits

    def plant_masks(self) -> None:
        for mask in MASK.findall(self.truth.get("masks.csv", "")):
            if mask not in self.submission:
                self.planted.hidden.add(mask)

    def plant_texts(self) -> None:
        """Add a random word to every phrase, but not to captions, which are public because participants rank them."""

        def added(found: re.Match[str]) -> str:
            self.planted.hidden.add(word := self.word())
            return f'{found[1]} {word}"'

        if "phrases.jsonl" in self.truth:
            self.truth["phrases.jsonl"] = TEXT.sub(added, self.truth["phrases.jsonl"])

    def plant_class(self) -> None:
        """Give one class in the ground truth a unique name, and remove this class from the submission."""
        if "image_labels.csv" not in self.truth:
            return
        old, new = self.leaf(), f"/m/{self.word()}"
        self.planted.named.add(new.removeprefix("/m/"))
        for name, text in self.truth.items():
            self.truth[name] = re.sub(rf"{re.escape(old)}(?![\w])", new, text)
        head, *rows = self.submission.splitlines(keepends=True)
        self.submission = head + "".join(row for row in rows if old not in row.split(","))
        for image in re.findall(rf"^(\w+),{re.escape(new)},", self.truth["image_labels.csv"], re.MULTILINE):
            self.planted.facts.setdefault(image, set()).add(new)

    def leaf(self) -> str:
        """Return a class that is verified as present in an image and has no subclasses."""
        tree = self.truth.get("hierarchy.json", "")
        for label in sorted(set(re.findall(r",(/m/\w+),1$", self.truth["image_labels.csv"], re.MULTILINE))):
            if not re.search(rf'"{re.escape(label)}",\s*"Subcategory"', tree):
                return label
        raise AssertionError("every class has subclasses")

    def plant_usage(self) -> None:
        """Mark images as public, private or ignored in `usage.csv`, and add images that no other file mentions."""
        images = [row.partition(",")[0] for row in self.truth["images.csv"].split()[1:]]
        words = ["Public", "Private", "Ignored"] * IMAGES
        usage = dict(zip(self.chance.sample(images, len(images)), words, strict=False))
        for image, word in usage.items():
            self.planted.facts.setdefault(image, set()).add(word)
        unknown = {self.word(): "Private" for _ in range(3)}
        self.planted.quoted |= set(unknown)
        rows = sorted({**usage, **unknown}.items())
        self.truth["usage.csv"] = "ImageID,Usage\n" + "".join(f"{image},{word}\n" for image, word in rows)
        for file, label in json.loads(self.truth.get("answers.json", "{}")).items():
            self.planted.facts.setdefault(file, set()).add(str(label))


def plant_challenge(folder: Path) -> Planted:
    """Write a bundle with a phase for every track, and a valid submission for each phase as `<slug>.submission`."""
    planted = Planted()
    (folder / "phases").mkdir(parents=True)
    for track in TRACKS.values():
        made = Planting(track, folder / "made" / track.name, planted)
        made.plant()
        home = folder / "phases" / track.name
        home.mkdir()
        made.folder.joinpath("truth").rename(home / "truth")
        made.file.rename(folder / f"{track.name}.submission")
    (folder / "challenge.yaml").write_text(SHEET + "".join(PHASE.format(slug=name) for name in TRACKS))
    return planted


def bad_files(track: Track, good: str) -> list[str]:
    """Return copies of a valid submission. Each copy has a different kind of defect."""
    if track.form.kind == "json":
        damaged = [
            good[:-20],
            good.replace('"', "'", 5),
            re.sub(r"\b[0-9a-f]{16}\b", "unknown", good, count=3),
            re.sub(r"\[(\d+), ", '["\\1", ', good, count=5),
        ]
    else:
        head, *rows = good.splitlines()
        body = "\n".join(rows)
        damaged = [
            f"{head.replace('ImageID', 'Picture')}\n{body}",
            "\n".join([head, *(row.rpartition(",")[0] for row in rows)]),
            "\n".join([head, rows[0], *(re.sub(r"^[^,]+", "unknown", row) for row in rows[1:])]),
            "\n".join([head, rows[0], *rows]),
            re.sub(r"/m/\w+", "/m/unicorn", good),
            re.sub(r",\d+,", ",999999,", good),
            re.sub(r",0\.\d+", ",NaN", good),
            re.sub(r"eA\w{8}", "eAAAAAAAAA", good),
        ]
    return [bad for bad in dict.fromkeys(["", *damaged]) if bad != good]
