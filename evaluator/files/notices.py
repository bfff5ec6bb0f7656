"""What is scored by the rules but was hardly meant: how often, and in which words."""

from evaluator.problems import Findings


def notice_unknown_images(findings: Findings, rows: int) -> None:
    """Note rows of images that an open truth does not know."""
    findings.notice("unknown_image", "rows of images that the truth does not know were ignored", rows)


def notice_oddities(findings: Findings, *, inverted: int, outside: int, beyond: int) -> None:
    """Note predictions of known images that can hit nothing, or that hold unusual numbers."""
    findings.notice("inverted_box", "boxes whose Min is not below their Max: they can hit nothing", inverted)
    findings.notice("outside_image", "boxes that reach outside 0 to 1; used as they are", outside)
    findings.notice("confidence_range", "confidences outside 0 to 1; used as they are", beyond)


def notice_unknown_labels(findings: Findings, predictions: int, *, listed: bool) -> None:
    """Note predictions of known images whose label is in no public list, or else, ``listed`` False, not annotated."""
    if listed:
        findings.notice("unknown_label", "predictions of labels that the hierarchy does not list", predictions)
        return
    message = "predictions of labels that the truth does not know were ignored"
    findings.notice("unknown_label", message, predictions, by_truth=True)


def notice_unknown_relations(findings: Findings, predictions: int) -> None:
    """Note relations that an open truth does not know."""
    message = "predictions of relations that the truth does not know: they can hit nothing"
    findings.notice("unknown_relation", message, predictions, by_truth=True)
