"""Adds notices about predictions that are valid but probably not intended, with the number of such predictions."""

from evaluator.problems import Findings


def notice_unknown_images(findings: Findings, rows: int) -> None:
    """Add a notice about rows of images that a truth without a list of images does not contain."""
    findings.notice("unknown_image", "rows of images that are not in the ground truth were ignored", rows)


def notice_oddities(findings: Findings, *, inverted: int, outside: int, beyond: int) -> None:
    """Add notices about predictions of known images that cannot match anything or have unusual numbers."""
    findings.notice("inverted_box", "boxes whose Min is not below their Max; they cannot match anything", inverted)
    findings.notice("outside_image", "boxes that extend beyond 0 to 1; they were used unchanged", outside)
    findings.notice("confidence_range", "confidences outside 0 to 1; they were used unchanged", beyond)


def notice_unknown_labels(findings: Findings, predictions: int, *, listed: bool) -> None:
    """Add a notice about predictions of known images with an unknown label.

    A label is unknown if it is not in the public list or, if there is none (``listed`` is false), not annotated.
    """
    if listed:
        findings.notice("unknown_label", "predictions of labels that the hierarchy does not list", predictions)
        return
    message = "predictions of labels that are not in the ground truth were ignored"
    findings.notice("unknown_label", message, predictions, by_truth=True)


def notice_unknown_relations(findings: Findings, predictions: int) -> None:
    """Add a notice about relations that a truth without a list of relations does not contain."""
    message = "predictions of relations that are not in the ground truth; they cannot match anything"
    findings.notice("unknown_relation", message, predictions, by_truth=True)
