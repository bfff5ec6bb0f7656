"""What the words and tables of an explained score mean; `podium score --explain` prints them, pages show them."""

from evaluator.catalog.schema import TRUTHS, Heading, ReportTable

PRECISION, RECALL, F1 = Heading("precision", "Precision"), Heading("recall", "Recall"), Heading("f1", "F1")
MISSED = Heading("missed", "Missed", "number")
FALSE = Heading("false_positives", "False positives", "number")
RATES = (PRECISION, RECALL, F1, MISSED)

AVERAGES = ReportTable(
    "averages",
    "Precision, recall and F1 of everything sent",
    (Heading("average", "Average", "text"), PRECISION, RECALL, F1, Heading("support", "Objects", "number")),
    {
        "micro": "of all predictions and objects together",
        "macro": "mean over the classes that have objects",
        "weighted": "the same mean, each class by its number of objects",
    },
)
NEAR = "overlaps one of its own class, but not enough"
TAKEN = "well placed on one that a surer prediction has found already"
SUMS = {
    "all_false_positives": "gain if every false positive were removed",
    "all_misses": "gain if only the objects that were found had to be found",
}


def errors(metric: str, title: str, meanings: dict[str, str]) -> tuple[ReportTable, ReportTable]:
    """Return the tables of kinds of errors and of their sums; ``metric`` is what would gain without them."""
    columns = (
        Heading("kind", "Kind", "text"),
        FALSE,
        Heading("misses", "Objects missed", "number"),
        Heading(f"delta_{metric}", f"{title} without it", "gain"),
    )
    return (
        ReportTable("errors", "Kinds of errors", columns, meanings),
        ReportTable("error_sums", "All false positives, all misses", columns, SUMS),
    )


ERRORS_OF_DETECTIONS = errors(
    "mAP",
    "mAP",
    {
        "class": "well placed, on an object of another class",
        "localization": NEAR,
        "both": "badly placed, on an object of another class",
        "duplicate": TAKEN,
        "background": "no object is there",
        "group_of": "partly in a group-of box of its class, but not enough",
        "missed": "objects that were not found, and that no prediction would find with another class or a better box",
    },
)
ERRORS_OF_RELATIONSHIPS = errors(
    "mAP_relationships",
    "mAP relationships",
    {
        "duplicate": TAKEN,
        "localization": "both classes and the relation are right, the boxes do not overlap enough",
        "relation": "all right but the relation",
        "subject": "all right but the class of the first box",
        "object": "all right but the class of the second box",
        "several": "more than one thing is wrong",
        "background": "near no triplet of the truth",
        "missed": (
            "triplets that were not found, and that no prediction would find with better boxes or with one other class "
            "or relation"
        ),
    },
)
SLICES = ReportTable(
    "slices",
    "By size, and by what the truth says of its boxes",
    (
        Heading("slice", "Slice", "text"),
        Heading("value", "Value", "text"),
        Heading("recall", "Recall"),
        TRUTHS,
        Heading("found", "Found", "number"),
        FALSE,
        Heading("mAP", "mAP"),
    ),
)
ABLATION = ReportTable(
    "ablation",
    "The score by other rules",
    (
        Heading("non_exhaustive_labels", "Unverified classes ignored", "switch"),
        Heading("hierarchy", "Hierarchy", "switch"),
        Heading("group_of_weight", "Group-of weight", "number"),
        Heading("mAP", "mAP"),
    ),
)
WRONG_CLASS = ReportTable(
    "class_errors",
    "Which class was taken for which",
    (
        Heading("truth", "There was", "text"),
        Heading("prediction", "Predicted", "text"),
        Heading("count", "Times", "number"),
    ),
    shown=12,
)
CONFUSION = ReportTable("confusion", "Confusion matrix", WRONG_CLASS.columns)

OF_DETECTIONS = (*ERRORS_OF_DETECTIONS, AVERAGES, SLICES, WRONG_CLASS, CONFUSION, ABLATION)
OF_RELATIONSHIPS = (*ERRORS_OF_RELATIONSHIPS, AVERAGES)
