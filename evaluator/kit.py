"""Reads and writes check kits. With a kit, participants can find all defects that the server would find.

A kit is a JSON file with everything that is needed to read submissions for a ground truth: ids, labels and their names,
parameters and limits. A kit does not contain annotations, the usage of images (public, private or ignored), or any
number computed from them. Therefore, two ground truths that differ only in annotations and usage have equal kits.
"""

import gzip
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from evaluator import __version__
from evaluator.catalog import TRACKS, Limits, Track
from evaluator.problems import InvalidKit, PodiumError
from evaluator.signature import compose
from evaluator.truth import Truth

FORMAT = 1
GZIP_MAGIC = b"\x1f\x8b"
KINDS: Mapping[str, type] = {"parameters": dict, "limits": dict, "flags": dict, "texts": dict, "arrays": dict}


@dataclass(frozen=True, slots=True)
class Kit:
    """A check kit: the data about a ground truth and the settings of its phase that participants are allowed to see.

    Attributes
    ----------
    track : Track
    parameters : mapping
        The values of all parameters.
    limits : Limits
        Limits of a submitted file.
    truth : Truth
        A ground truth without annotations and usage of images. It is sufficient for reading submissions, but not for
        scoring them.
    evaluator : str
        The version of the evaluator that wrote the kit. A different version may find different defects.
    """

    track: Track
    parameters: Mapping[str, Any]
    limits: Limits
    truth: Truth
    evaluator: str = __version__

    @classmethod
    def of(cls, track: Track, truth: Truth, parameters: Mapping[str, Any], limits: Limits) -> Self:
        """Return the check kit of a ground truth, without the data that participants are not allowed to see.

        ``parameters`` must contain all parameters of the track.
        """
        public = Truth(track.name, "", truth.parameters, truth.flags, truth.public_texts, truth.public_arrays)
        return cls(track, parameters, limits, public)

    def save(self, path: Path) -> None:
        """Write the check kit, which ``podium check`` uses to check submissions, to a file.

        Equal kits give identical files.
        """
        content = {
            "podium_kit": FORMAT,
            "track": self.track.name,
            "evaluator": self.evaluator,
            "signature": compose(self.track, self.parameters, ""),
            "parameters": self.parameters,
            "limits": asdict(self.limits),
            "form": _form(self.track),
            "flags": self.truth.flags,
            "texts": {name: list(texts) for name, texts in self.truth.texts.items()},
            "arrays": {name: array.tolist() for name, array in self.truth.arrays.items()},
        }
        path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a check kit, which participants use to check submissions, from a plain or gzipped file.

        Raises
        ------
        InvalidKit
            If the file cannot be used as a kit. The message explains what to do.
        """
        content = path.read_bytes()
        try:
            text = gzip.decompress(content) if content.startswith(GZIP_MAGIC) else content
            kit = json.loads(text)
        except (ValueError, OSError, EOFError, RecursionError):
            kit = None
        if not isinstance(kit, dict) or "podium_kit" not in kit:
            raise InvalidKit(f"{path.name} is not a check kit; download the kit of the phase from its data page")
        if kit["podium_kit"] != FORMAT or kit.get("track") not in TRACKS:
            made = str(kit.get("evaluator"))[:20]
            raise InvalidKit(
                f"{path.name} was written by podium {made}, but this is podium {__version__}; install version {made}"
            )
        try:
            return cls._from(kit)
        except (KeyError, TypeError, ValueError, PodiumError) as error:
            raise InvalidKit(f"{path.name} is damaged; download it again") from error

    @classmethod
    def _from(cls, kit: Mapping[str, Any]) -> Self:
        if any(not isinstance(kit[name], kind) for name, kind in KINDS.items()):
            raise TypeError("a value in the kit has the wrong type")
        track = TRACKS[kit["track"]]
        parameters = track.resolve(kit["parameters"])
        known = {each.name for each in fields(Limits)}
        limits = Limits(**{name: int(value) for name, value in kit["limits"].items() if name in known})
        texts = {name: [str(text) for text in texts] for name, texts in kit["texts"].items()}
        arrays = {name: np.array(values, np.int64) for name, values in kit["arrays"].items()}
        truth = Truth(track.name, "", track.shaping(parameters), kit["flags"], texts, arrays)
        return cls(track, parameters, limits, truth, kit["evaluator"])


def _form(track: Track) -> dict[str, Any]:
    """Return the file layouts that a track accepts, as JSON data for programs other than the evaluator."""
    layouts = [
        {"header": shape.header, "columns": [{"name": each.name, "kind": each.kind} for each in shape.columns]}
        for shape in track.form.shapes
    ]
    return {"kind": track.form.kind, "one_each": track.form.one_each, "layouts": layouts}
