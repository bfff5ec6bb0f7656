"""Declares the visual relationship track for the Open Images Challenge."""

from evaluator.catalog import explanations
from evaluator.catalog.forms import Column, Form
from evaluator.catalog.open_images import BOX, CLASSES, FRACTION, IMAGE, IMAGE_LABELS, SCORE
from evaluator.catalog.parameter import Parameter
from evaluator.catalog.schema import POSITIVES, Metric, Modules, ReportColumn, Track, TruthFile

RELATIONSHIPS = Track(
    name="openimages-relationships",
    title="Visual relationships (Open Images)",
    summary="Detect related pairs of objects, such as “man plays guitar”, and attributes such as “chair is wooden”.",
    truth=(
        TruthFile(
            "relationships.csv",
            (
                "ImageID",
                "LabelName1",
                "LabelName2",
                "RelationshipLabel",
                *(f"{name}{n}" for n in (1, 2) for name in BOX),
            ),
            "one row per pair",
        ),
        TruthFile("image_labels.csv", IMAGE_LABELS, "verified labels", required=False),
        CLASSES,
        TruthFile(
            "relations.csv",
            ("RelationshipLabel", "DisplayName"),
            "the relations, without a header; if this file exists, any other relation is reported as a defect",
            required=False,
        ),
    ),
    parameters=(
        Parameter(
            "iou_threshold", 0.5, "smallest IoU at which a detection matches an object", short="iou", low=1e-9, high=1.0
        ),
        Parameter(
            "weights",
            (0.4, 0.2, 0.4),
            "weights of mAP_relationships, recall@50 and mAP_phrases in the score",
            short="weights",
            low=0.0,
            high=1.0,
        ),
    ),
    form=Form(
        "table",
        columns=(
            IMAGE,
            Column("LabelName1", "label", "class of the first box"),
            Column("LabelName2", "label", "class or attribute of the second box"),
            Column("RelationshipLabel", "relation", "the relation of the first box to the second"),
            SCORE,
            *(Column(f"{name}{n}", "number", FRACTION) for n in (1, 2) for name in BOX),
        ),
        tokens=(
            SCORE,
            Column("LabelName1", "label", "class of the first box"),
            *(Column(f"{name}1", "number", FRACTION) for name in ("XMin", "YMin", "XMax", "YMax")),
            Column("LabelName2", "label", "class or attribute of the second box"),
            *(Column(f"{name}2", "number", FRACTION) for name in ("XMin", "YMin", "XMax", "YMax")),
            Column("RelationshipLabel", "relation", "the relation of the first box to the second"),
        ),
        example="00173afdc7581c41,/m/04yx4,/m/0342h,plays,0.83,0.1,0.44,0.12,0.95,0.2,0.5,0.4,0.8",
        string_example="0.83 /m/04yx4 0.1 0.12 0.44 0.95 /m/0342h 0.2 0.4 0.5 0.8 plays",
    ),
    metrics=(
        Metric(
            "score",
            "Score",
            "weighted sum of mAP of relationships, recall@50 and mAP of phrases (usual weights: 0.4, 0.2 and 0.4)",
        ),
        Metric(
            "mAP_relationships",
            "mAP relationships",
            "average precision, averaged over relations; both boxes must match",
            "mAP rel.",
        ),
        Metric(
            "mAP_phrases",
            "mAP phrases",
            "average precision, averaged over relations; the box around both objects must match",
            "mAP phr.",
        ),
        Metric(
            "recall@50",
            "Recall@50",
            "fraction of pairs that are found among the 50 most confident predictions for each image",
            "R@50",
            "plain",
        ),
        Metric(
            "recall@100",
            "Recall@100",
            "fraction of pairs that are found among the 100 most confident predictions for each image",
            share="plain",
        ),
        Metric(
            "weighted_ap_relationships",
            "AP relationships, pooled",
            "average precision over all pairs, regardless of the relation",
        ),
        Metric(
            "weighted_ap_phrases",
            "AP phrases, pooled",
            "average precision over all phrases, regardless of the relation",
        ),
    ),
    class_word="relation",
    class_columns=(
        ReportColumn("ap_relationships", "AP relationships"),
        ReportColumn("ap_phrases", "AP phrases"),
        POSITIVES,
    ),
    explained_columns=explanations.RATES,
    explained_tables=explanations.OF_RELATIONSHIPS,
    curves=("ap_relationships", "ap_phrases"),
    headline_explained=(
        "40% mean average precision of relationships, 20% recall of the 50 most confident pairs in each image, "
        "40% mean average precision of phrases (the box around both objects)."
    ),
    modules=Modules(
        scorer="evaluator.tracks.relationships.scorer",
        compiler="evaluator.tracks.relationships.compiler",
        fast_path="evaluator.tracks.relationships.fast.scoring",
        explanation="evaluator.tracks.relationships.explain.explanation",
        synthesizer="evaluator.synthesis.relationships",
        statistics="evaluator.tracks.relationships.statistics",
    ),
    intervals=True,
)
