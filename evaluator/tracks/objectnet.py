"""ObjectNet: five guesses for each image; by class, and by how the picture was taken."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.catalog import OBJECTNET
from evaluator.files.folder import TruthFolder, coded
from evaluator.files.source import Source
from evaluator.files.submission import Table, Vocabulary, read_table
from evaluator.metrics import bootstrap
from evaluator.metrics.average_precision import mean_defined
from evaluator.metrics.bootstrap import Numbers
from evaluator.metrics.resampling import Places
from evaluator.metrics.shares import share, shares
from evaluator.report import ClassRow, SplitReport, finite
from evaluator.tracks.checking import checked, listed_images
from evaluator.tracks.interface import Contest, Outcome, Progress, csv_text, on_every_split
from evaluator.tracks.shared.ratios import ShareSample
from evaluator.tracks.shared.usage import usage_of
from evaluator.truth import Truth

CLASSES = 313
NONE = CLASSES  # no guess
IDS = {str(number): number for number in range(CLASSES)}
GUESSES = tuple(column.name for column in OBJECTNET.form.columns if column.kind == "label")
CONTROLS = ("background", "rotation", "viewpoint")


@dataclass(frozen=True, slots=True)
class Trials:
    """Every image with an answer; arrays of shape (N,).

    Attributes
    ----------
    images : int64 array
        Codes of the images.
    answers : int64 array
        The right class of each.
    hits : mapping of str to bool array
        Whether it was found, by metric.
    """

    images: NDArray[np.int64]
    answers: NDArray[np.int64]
    hits: Mapping[str, NDArray[np.bool_]]


def compile_truth(folder: TruthFolder, parameters: Mapping[str, Any]) -> Truth:
    """Return the prepared truth: ``answers`` of shape (images,), -1 where there is none; a code for each control.

    Raises
    ------
    InvalidTruth
    """
    answers = _answers(folder)
    images = {image: code for code, image in enumerate(listed_images(folder, list(answers), "answers.json"))}
    right = np.full(len(images), -1, np.int64)
    for image, answer in answers.items():
        right[images.get(image, 0)] = answer
    names = folder.names("classes.csv") if "classes.csv" in folder else {}
    for label in (label for label in names if label not in IDS):
        folder.faults.add("truth_unknown_label", "classes.csv", f"{label} is not a class id from 0 to {CLASSES - 1}")
    texts: dict[str, list[str]] = {"images": list(images), "names": [names.get(label, label) for label in IDS]}
    arrays: dict[str, NDArray[Any]] = {"answers": right, "usage": usage_of(folder, images)}
    if "controls.csv" in folder:
        values, codes = _controls(folder, images)
        texts |= values
        arrays |= codes
    return checked(folder.faults, Truth(folder.track.name, folder.sha256, {}, {}, texts, arrays))


def _answers(folder: TruthFolder) -> dict[str, int]:
    """Return the class of each file, by its name without folders."""
    given, file = folder.json("answers.json"), "answers.json"
    if not isinstance(given, dict):
        folder.faults.add("truth_bad_value", file, "must be an object of files and their class ids")
        folder.faults.check()
    if not given:
        folder.faults.add("truth_bad_value", file, "has no answer; give the class id of at least one file")
    answers: dict[str, int] = {}
    for path, answer in given.items():
        image = path.rpartition("/")[2]
        if type(answer) is not int or not 0 <= answer < CLASSES:
            message = f"{path}: {str(answer)[:60]} is not a class id from 0 to {CLASSES - 1}"
            folder.faults.add("truth_bad_value", file, message)
        elif image in answers:
            folder.faults.add("truth_bad_value", file, f"{image} has two answers, in two folders")
        answers[image] = answer
    folder.faults.check()
    if len(answers) > 1 and len(set(answers.values())) == 1:
        folder.faults.warn("truth_one_class", file, f"all {len(answers)} answers are {answers[image]}")
    return answers


def _controls(folder: TruthFolder, images: Mapping[str, int]) -> tuple[dict[str, list[str]], dict[str, NDArray[Any]]]:
    """Return the values of each control, and each image's code of one, -1 where nothing is known of it."""
    table = folder.table("controls.csv")
    rows = coded([file.rpartition("/")[2] for file in table.texts("file")], images)
    texts, arrays = {}, {}
    for control in CONTROLS:
        given = table.texts(control)
        values = sorted(set(given))
        codes = np.full(len(images), -1, np.int64)
        codes[rows[rows >= 0]] = coded(given, {value: code for code, value in enumerate(values)})[rows >= 0]
        texts[control], arrays[control] = values, codes
    return texts, arrays


def read(source: Source, truth: Truth | None, parameters: Mapping[str, Any]) -> Table:
    """Read a submission: guesses as class codes, and one for no guess."""
    vocabularies = {"label": Vocabulary(IDS | {"-1": NONE, "": NONE}, closed=True)}
    if truth is not None:
        vocabularies["image"] = Vocabulary(truth.image_codes, closed=True)
    table = read_table(source, OBJECTNET.form, vocabularies)
    if truth is not None and not source.findings.total:
        missing = len(truth.texts["images"]) - len(table.named)
        source.findings.notice("missing_image", "images that the file does not name; they count as wrong", missing)
    return table


def evaluate(truth: Truth, table: Table, parameters: Mapping[str, Any], progress: Progress) -> Outcome:
    """Score the guesses on every split."""
    progress("scoring", 0.0)
    trials = tried(truth, table, parameters["top_k"])
    splits = on_every_split(truth, lambda split: fold(truth, trials, truth.splits[split].astype(np.float64)))
    return Outcome(splits, partial(sample, trials), trials=lambda metric: trials.images)


def tried(truth: Truth, table: Table, top: int) -> Trials:
    """Tell for each image with an answer whether it was found: at once, and among the first guesses."""
    guesses = np.full((len(truth.texts["images"]), len(GUESSES)), NONE, np.int64)
    guesses[table.codes("image")] = np.stack([table.codes(name) for name in GUESSES], axis=1)
    images = np.flatnonzero(truth.arrays["answers"] >= 0)
    answers = truth.arrays["answers"][images]
    right = guesses[images] == answers[:, None]  # (N, 5)
    return Trials(images, answers, {"top1": right[:, 0], "top5": right[:, :top].any(axis=1)})


def fold(truth: Truth, trials: Trials, image_weights: NDArray[np.float64]) -> SplitReport:
    """Sum up: over all images, class by class, and control by control.

    Parameters
    ----------
    image_weights : float64 array of shape (images,)
        How often each image counts.
    """
    weights = image_weights[trials.images]
    by_class = {name: shares(hits, weights, trials.answers, CLASSES) for name, hits in trials.hits.items()}
    metrics = {name: share(hits, weights) for name, hits in trials.hits.items()}
    metrics |= {f"mean_class_{name}": mean_defined(values) for name, values in by_class.items()}
    truths = np.bincount(trials.answers, weights, CLASSES)
    classes: list[ClassRow] = [
        {
            "label": str(label),
            "name": truth.texts["names"][label],
            **{name: finite(values[label]) for name, values in by_class.items()},
            "truths": int(truths[label]),
        }
        for label in np.flatnonzero(truths).tolist()
    ]
    known = [control for control in CONTROLS if control in truth.arrays]
    controls = [row for control in known for row in _rows(truth, trials, weights, control)]
    return SplitReport(
        OBJECTNET.headline,
        {name: finite(value) for name, value in metrics.items()},
        classes,
        tables={"controls": controls, "spreads": _spreads(controls)} if controls else {},
    )


def sample(trials: Trials, places: Places) -> ShareSample:
    """Return the sample of one split: the images of each class."""
    return ShareSample.of(trials.images, trials.hits, places, _resampled, trials.answers, CLASSES)


def _resampled(tried: Numbers, found: Mapping[str, Numbers]) -> dict[str, Numbers]:
    total = tried.sum(axis=0)
    metrics = {name: bootstrap.shares(hits.sum(axis=0), total) for name, hits in found.items()}
    by_class = {name: bootstrap.shares(hits, tried) for name, hits in found.items()}
    return metrics | {f"mean_class_{name}": bootstrap.means_defined(values) for name, values in by_class.items()}


def _rows(truth: Truth, trials: Trials, weights: NDArray[np.float64], control: str) -> list[ClassRow]:
    """Return a row for each value of a control that occurs."""
    codes, values = truth.arrays[control][trials.images], truth.texts[control]
    known = codes >= 0
    codes, weights = codes[known], weights[known]
    found = {name: shares(hits[known], weights, codes, len(values)) for name, hits in trials.hits.items()}
    truths = np.bincount(codes, weights, len(values))
    return [
        {
            "control": control,
            "value": value,
            **{name: finite(each[code]) for name, each in found.items()},
            "truths": int(truths[code]),
        }
        for code, value in enumerate(values)
        if truths[code]
    ]


def _spreads(rows: list[ClassRow]) -> list[ClassRow]:
    """Return the best and the worst value of each control, of equals the first, and how far they are apart."""
    spreads: list[ClassRow] = []
    for control in CONTROLS:
        of_control = [(float(row["top1"] or 0.0), row["value"]) for row in rows if row["control"] == control]
        if of_control:
            best, worst = max(of_control, key=lambda row: row[0]), min(of_control, key=lambda row: row[0])
            spreads.append(
                {
                    "control": control,
                    "best": best[1],
                    "best_top1": best[0],
                    "worst": worst[1],
                    "worst_top1": worst[0],
                    "spread": best[0] - worst[0],
                }
            )
    return spreads


def blank(truth: Truth) -> str:
    """Write a row without a guess for every image."""
    return csv_text((), ((image, *["-1", "0"] * len(GUESSES)) for image in truth.texts["images"]))


def ceiling(truth: Truth, parameters: Mapping[str, Any]) -> str:
    """Write every answer as the first guess."""
    rest = ["-1", "0"] * (len(GUESSES) - 1)
    pairs = zip(truth.texts["images"], truth.arrays["answers"].tolist(), strict=True)
    return csv_text((), ((image, answer, "1", *rest) for image, answer in pairs if answer >= 0))


CONTEST = Contest(OBJECTNET, compiler=__name__, read=read, evaluate=evaluate, blank=blank, ceiling=ceiling)
