"""Declares the tables and columns that explain a score, and describes the words that appear in the tables."""

from dataclasses import replace

from evaluator.catalog.schema import POSITIVES, ReportColumn, ReportTable

PRECISION, RECALL, F1 = (
    ReportColumn("precision", "Precision"),
    ReportColumn("recall", "Recall"),
    ReportColumn("f1", "F1"),
)
MISSED = ReportColumn("missed", "Missed", "number")
FALSE = ReportColumn("false_positives", "False positives", "number")
RATES = (PRECISION, RECALL, F1, MISSED)

AVERAGES = ReportTable(
    "averages",
    "Precision, recall and F1 of all predictions",
    (ReportColumn("average", "Average", "text"), PRECISION, RECALL, F1, ReportColumn("support", "Objects", "number")),
    {
        "micro": "over all predictions and objects together",
        "macro": "mean over all classes that have objects",
        "weighted": "mean over all classes, weighted by the number of objects of each class",
    },
)
NEAR = "overlaps an object of its own class, but not enough"
TAKEN = "overlaps an object of its own class that a more confident prediction has matched"


def errors(metric: str, title: str, meanings: dict[str, str]) -> tuple[ReportTable, ReportTable]:
    """Return the declarations of two report tables, which explain how errors of a submission lower its score.

    The first table has a row for each kind of error. The second table has a row for all false positives, and a row for
    all missed objects. Each row contains the amount by which ``metric`` would rise if these errors were fixed.
    """
    columns = (
        ReportColumn("kind", "Kind", "text"),
        FALSE,
        ReportColumn("misses", "Objects missed", "number"),
        ReportColumn(f"delta_{metric}", f"Gain in {title}", "gain"),
    )
    sums = {
        "all_false_positives": f"gain in {title} if all false positives were removed",
        "all_misses": f"gain in {title} if all missed objects were removed from the ground truth",
    }
    return (
        ReportTable("errors", "Kinds of errors", columns, meanings),
        ReportTable("error_sums", "All false positives and all misses", columns, sums),
    )


ERRORS_OF_DETECTIONS = errors(
    "mAP",
    "mAP",
    {
        "class": "overlaps an object of another class",
        "localization": NEAR,
        "both": "overlaps an object of another class, but not enough",
        "duplicate": TAKEN,
        "background": "overlaps no object",
        "group_of": "overlaps a group-of box of its class, but not enough",
        "missed": "objects that were not matched, and that no prediction would match "
        "with a different class or a better box",
    },
)
ERRORS_OF_MASKS = errors(
    "mAP",
    "mAP",
    {
        "class": "overlaps an object of another class",
        "localization": NEAR,
        "both": "overlaps an object of another class, but not enough",
        "duplicate": TAKEN,
        "background": "overlaps no object with a mask",
        "group_of": "overlaps a group-of mask of its class, but not enough",
        "missed": "objects with a mask that were not matched, and that no prediction would match "
        "with a different class or a better mask",
    },
)
ERRORS_OF_RELATIONSHIPS = errors(
    "mAP_relationships",
    "mAP relationships",
    {
        "duplicate": TAKEN,
        "localization": "both classes and the relation are correct, but the boxes do not overlap enough",
        "relation": "only the relation is wrong",
        "subject": "only the class of the first box is wrong",
        "object": "only the class of the second box is wrong",
        "several": "more than one part is wrong",
        "background": "overlaps no triplet in the ground truth",
        "missed": (
            "triplets that were not matched, and that no prediction would match even if its boxes, one of its classes, "
            "or its relation were corrected"
        ),
    },
)
SLICES = ReportTable(
    "slices",
    "By size and attributes of the ground truth boxes",
    (
        ReportColumn("slice", "Slice", "text"),
        ReportColumn("value", "Value", "text"),
        ReportColumn("recall", "Recall"),
        POSITIVES,
        ReportColumn("found", "Found", "number"),
        FALSE,
        ReportColumn("mAP", "mAP"),
    ),
)
SLICES_OF_MASKS = replace(SLICES, title="By size of the ground truth masks")
ABLATION = ReportTable(
    "ablation",
    "The score under different rules",
    (
        ReportColumn("non_exhaustive_labels", "Unverified classes ignored", "switch"),
        ReportColumn("hierarchy", "Hierarchy", "switch"),
        ReportColumn("group_of_weight", "Group-of weight", "number"),
        ReportColumn("mAP", "mAP"),
    ),
)
WRONG_CLASS = ReportTable(
    "class_errors",
    "Most frequently confused classes",
    (
        ReportColumn("truth", "Ground truth", "text"),
        ReportColumn("prediction", "Predicted", "text"),
        ReportColumn("count", "Times", "number"),
    ),
    shown=12,
)
CONFUSION = ReportTable("confusion", "Confusion matrix", WRONG_CLASS.columns)

OF_DETECTIONS = (*ERRORS_OF_DETECTIONS, AVERAGES, SLICES, WRONG_CLASS, CONFUSION, ABLATION)
OF_MASKS = (*ERRORS_OF_MASKS, AVERAGES, SLICES_OF_MASKS, WRONG_CLASS)
OF_RELATIONSHIPS = (*ERRORS_OF_RELATIONSHIPS, AVERAGES)
