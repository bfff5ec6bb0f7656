"""Adds notices about predictions that are valid but probably not intended. Each notice contains a count."""

from evaluator.problems import NOTHING_TO_SCORE, Findings, visible

UNKNOWN_IMAGE = "unknown_image"


def notice_unknown_images(findings: Findings, rows: int) -> None:
    """Add a notice about rows whose image is not in the ground truth.

    These rows are not defects if the ground truth has no list of images.
    """
    findings.notice(UNKNOWN_IMAGE, "rows for images that are not in the ground truth were ignored", rows)


def notice_oddities(findings: Findings, predictions: int, *, inverted: int, outside: int, beyond: int) -> None:
    """Add notices about predictions that cannot match any object or have unusual values.

    ``inverted`` is the number of boxes whose minimum is not below their maximum, ``outside`` the number of boxes that
    extend outside the image, and ``beyond`` the number of confidences outside the range 0 to 1. Predictions for images
    that are not in the ground truth are not counted.
    """
    findings.notice(
        "inverted_box", "boxes whose minimum is not below their maximum; they cannot match anything", inverted
    )
    if outside == predictions:
        message = (
            "every box extends outside the range 0 to 1. Are these pixels? Coordinates are fractions of the image: "
            "divide x by the width of the image in pixels, and y by its height"
        )
        findings.notice("outside_image", message, outside)
    else:
        findings.notice(
            "outside_image", "boxes that extend outside the range 0 to 1; they were used unchanged", outside
        )
    findings.notice("confidence_range", "confidences outside the range 0 to 1; they were used unchanged", beyond)


def notice_fractions(findings: Findings, boxes: int) -> None:
    """Add a notice that no coordinate in the file exceeds 1, so the boxes are probably not in pixels as required."""
    message = "no coordinate exceeds 1. Are these fractions? In this track, boxes are in pixels of the original image"
    findings.notice("fractions", message, boxes)


def notice_nothing_to_score(findings: Findings, predictions: int, useful: int) -> None:
    """Add a notice if no prediction in the file could be correct, regardless of the annotations.

    Parameters
    ----------
    predictions : int
        Number of predictions for images that are in the ground truth.
    useful : int
        Number of predictions that could be correct.
    """
    if not predictions:
        reason = _missing_predictions(findings)
        message = f"{reason}, so nothing in it can score; add a prediction for at least one image"
        findings.notice(NOTHING_TO_SCORE, message, 1)
    elif not useful:
        message = "no prediction can match an object: every box or mask is empty, inverted or outside the image"
        findings.notice(NOTHING_TO_SCORE, message, predictions)


def notice_no_predictions(findings: Findings, predictions: int) -> None:
    """Add a notice if a file has no predictions for images in the ground truth, in a track that scores such a file."""
    if not predictions:
        message = f"{_missing_predictions(findings)}, so it gets the score of random guessing"
        findings.notice("no_predictions", message, 1)


def _missing_predictions(findings: Findings) -> str:
    """Return what is wrong with a file that has no prediction for an image in the ground truth."""
    if any(notice.code == UNKNOWN_IMAGE for notice in findings.notices):
        return "the file has predictions only for images that are not in the ground truth (compare the image ids)"
    return "the file has no predictions"


def notice_semicolons(findings: Findings, lines: int) -> None:
    """Add a notice about lines whose cells are separated by semicolons instead of commas."""
    findings.notice("semicolons", "lines have semicolons between their cells; use commas instead", lines)


def notice_names(findings: Findings, name: str, label: str, count: int) -> None:
    """Add a notice about display names that a submission contains instead of ids, with one name as an example."""
    message = f"names were used instead of ids; the id of {visible(name)!r} is {visible(label)}"
    findings.notice("name_for_id", message, count)


def notice_unknown_labels(findings: Findings, predictions: int, *, listed: bool) -> None:
    """Add a notice about predictions with an unknown label, for images that are in the ground truth.

    If there is a public list of labels (``listed``), labels that are not in this list are unknown. Otherwise, labels
    that are not in the ground truth are unknown.
    """
    if listed:
        findings.notice("unknown_label", "predictions with labels that are not in the hierarchy", predictions)
        return
    message = "predictions with labels that are not in the ground truth were ignored"
    findings.notice("unknown_label", message, predictions, by_truth=True)


def notice_unknown_relations(findings: Findings, predictions: int) -> None:
    """Add a notice about predictions whose relation is not in the ground truth.

    These predictions are not defects if the ground truth has no list of relations.
    """
    message = "predictions with relations that are not in the ground truth; they cannot match anything"
    findings.notice("unknown_relation", message, predictions, by_truth=True)
