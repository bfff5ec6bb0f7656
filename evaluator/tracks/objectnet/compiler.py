"""Compiles a ground truth folder of the ObjectNet track."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.files.folder import TruthFolder, coded
from evaluator.texts import counted
from evaluator.tracks.checking import Position, checked, listed_images, usage_of, warn_nameless, warn_unused
from evaluator.tracks.objectnet.truth import (
    CLASS_IDS,
    CLASSES,
    CONTROLS,
    UNKNOWN,
    Control,
    ObjectNetParameters,
    ObjectNetTruth,
)

ANSWERS = "answers.json"
EXPECTED = f"is not a class id from 0 to {CLASSES - 1}"


def compile_truth(folder: TruthFolder, parameters: ObjectNetParameters) -> ObjectNetTruth:
    """Check a ground truth folder and compile it.

    Raises
    ------
    InvalidTruth
        If the ground truth folder has faults.
    """
    answers = _answers(folder)
    positions = {image: Position(ANSWERS, column=f"$.{image}") for image in answers}
    images = {image: code for code, image in enumerate(listed_images(folder, positions))}
    by_image = np.full(len(images), UNKNOWN, np.int64)
    for image, answer in answers.items():
        by_image[images.get(image, 0)] = answer
    names = folder.names("classes.csv", CLASS_IDS, EXPECTED) if "classes.csv" in folder else {}
    used = {str(answer) for answer in answers.values()}
    warn_unused(folder, "classes.csv", names, used)
    if "classes.csv" in folder:
        warn_nameless(folder, "classes.csv", sorted(used - set(names), key=int))
    texts: dict[str, list[str]] = {"images": list(images), "names": [names.get(label, label) for label in CLASS_IDS]}
    arrays: dict[str, NDArray[Any]] = {"answers": by_image, "usage": usage_of(folder, images)}
    for control in _controls(folder, images) if "controls.csv" in folder else ():
        texts[control.name], arrays[control.name] = list(control.values), control.codes
    return checked(folder.faults, ObjectNetTruth(folder.track.name, folder.sha256, {}, {}, texts, arrays))


def _answers(folder: TruthFolder) -> dict[str, int]:
    """Return a dict that maps the file name of each image, without folders, to its class."""
    answers_by_path = folder.json(ANSWERS)
    if not isinstance(answers_by_path, dict):
        folder.faults.add("truth_bad_value", ANSWERS, "must be a JSON object that maps each file name to its class id")
        folder.faults.check()
    if not answers_by_path:
        folder.faults.add(
            "truth_bad_value", ANSWERS, "has no answers; it must contain the class id of at least one file"
        )
    answers: dict[str, int] = {}
    for path, answer in answers_by_path.items():
        image = path.rpartition("/")[2]
        if type(answer) is not int or not 0 <= answer < CLASSES:
            message = f"{path}: {json.dumps(answer)[:60]} {EXPECTED}"
            folder.faults.add("truth_bad_value", ANSWERS, message, column=f"$.{path}")
        elif image in answers:
            folder.faults.add(
                "truth_bad_value", ANSWERS, f"{image} has two answers, in two folders", column=f"$.{path}"
            )
        answers[image] = answer
    folder.faults.check()
    if len(answers) > 1 and len(set(answers.values())) == 1:
        folder.faults.warn("truth_one_class", ANSWERS, f"all {len(answers)} answers are {answers[image]}")
    return answers


def _controls(folder: TruthFolder, images: Mapping[str, int]) -> list[Control]:
    """Return the controls (the conditions under which the images were taken) from ``controls.csv``."""
    table = folder.table("controls.csv")
    files = [file.rpartition("/")[2] for file in table.texts("file")]
    rows = coded(files, images)
    table.warn("file", rows < 0, "truth_unknown_image", "is not an image of this ground truth, so the row is ignored")
    last = {file: row for row, file in enumerate(files)}
    replaced = np.array([last[file] != row for row, file in enumerate(files)], bool)
    table.warn("file", replaced, "truth_duplicate", "has a later row, so this row is ignored")
    if missing := len(images) - len(set(rows[rows >= 0].tolist())):
        message = f"{counted(missing, 'image')} without a row; the tables of controls leave these images out"
        folder.faults.warn("truth_no_control", "controls.csv", message)
    controls = []
    for name in CONTROLS:
        texts = table.texts(name)
        values = sorted(set(texts))
        codes = np.full(len(images), UNKNOWN, np.int64)
        codes[rows[rows >= 0]] = coded(texts, {value: code for code, value in enumerate(values)})[rows >= 0]
        controls.append(Control(name, values, codes))
    return controls
