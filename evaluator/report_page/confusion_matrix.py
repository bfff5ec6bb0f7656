"""The confusion matrix in the report on a scored submission."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluator.catalog import ReportTable
from evaluator.report_page.tables import NOTHING, ReportRow, id_of

CLASSES_SHOWN = 8
# A cell of the confusion matrix becomes one shade darker at 5%, at 20% and at 50% of its row's total.
SHADES = (0.05, 0.2, 0.5)


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """A confusion matrix: counts of objects by ground truth class (rows) and predicted class (columns).

    A class is a pair (name, id); the id is empty if it equals the name. A cell is a pair (count, shade). The shade
    ranges from 0 to 3 and grows with the count as a fraction of its row's total. `more` is the number of stored classes
    that are not shown; there can be further classes that are not stored.
    """

    title: str
    predicted: list[tuple[str, str]]
    rows: list[tuple[tuple[str, str], list[tuple[int, int]]]]
    more: int


def confusion_matrix(
    declared: ReportTable, rows: Sequence[ReportRow], names: Mapping[str, str]
) -> ConfusionMatrix | None:
    """Return the confusion matrix of the classes that are confused most often, or None if there are no classes."""
    counts = {(row["truth"], row["prediction"]): int(row["count"]) for row in rows}
    classes = most_confused(counts)
    if not classes:
        return None
    shown: list[str | None] = [*classes[:CLASSES_SHOWN], None]

    def cells(truth: str | None) -> list[tuple[int, int]]:
        found = [counts.get((truth, prediction), 0) for prediction in shown]
        total = sum(found) or 1
        return [(count, sum(count / total >= share for share in SHADES)) for count in found]

    titles = [(NOTHING if label is None else names.get(label, label), id_of(label or "", names)) for label in shown]
    return ConfusionMatrix(
        title=declared.title,
        predicted=titles,
        rows=[(title, cells(label)) for title, label in zip(titles, shown, strict=True)],
        more=max(0, len(classes) - CLASSES_SHOWN),
    )


def most_confused(counts: Mapping[tuple[str | None, str | None], int]) -> list[str]:
    """Return the class labels, sorted by how often each class is confused with other classes, most often first."""
    confused = Counter({label: 0 for pair in counts for label in pair if label is not None})
    for (truth, prediction), count in counts.items():
        if truth != prediction and truth is not None and prediction is not None:
            confused.update({truth: count, prediction: count})
    return [label for label, _ in confused.most_common()]
