"""The tracks of the Open Images Challenge, declared."""

from evaluator.catalog.schema import Column, Metric, Parameter, Track, TruthFile

IMAGES = TruthFile(
    "images.csv", ("ImageID",), "every image of the test set; with it, unknown images are defects", required=False
)
USAGE = TruthFile("usage.csv", ("ImageID", "Usage"), "Public, Private or Ignored for every image", required=False)
CLASSES = TruthFile(
    "classes.csv", ("LabelName", "DisplayName"), "headerless; with it, unknown labels are defects", required=False
)
IMAGE_LABELS = ("ImageID", "LabelName", "Confidence")
BOX = ("XMin", "XMax", "YMin", "YMax")
FRACTION = "a fraction of the image's width or height"

DETECTION = Track(
    name="openimages-detection",
    title="Object detection (Open Images)",
    summary="Boxes of many classes, with a class hierarchy, group-of boxes and labels that are not exhaustive.",
    truth_files=(
        TruthFile("boxes.csv", ("ImageID", "LabelName", *BOX, "IsGroupOf"), "one row per box"),
        TruthFile("image_labels.csv", IMAGE_LABELS, "verified labels: 1 present, 0 absent"),
        TruthFile("hierarchy.json", (), "nested LabelName and Subcategory", required=False),
        CLASSES,
        IMAGES,
        USAGE,
    ),
    parameters=(
        Parameter(
            "iou_threshold", 0.5, "overlap from which a detection hits an object", short="iou", low=1e-9, high=1.0
        ),
        Parameter(
            "group_of_weight",
            1.0,
            "what a group-of box counts; 0 makes it an ignore region",
            short="groupof",
            low=0.0,
            high=1.0,
        ),
        Parameter(
            "expand_hierarchy",
            True,
            "truth also counts for its ancestors",
            short="hierarchy",
            words=("expand", "none"),
            shapes_truth=True,
        ),
        Parameter(
            "expand_predictions",
            False,
            "copy each prediction to its ancestors",
            short="predictions",
            words=("expand", "none"),
            quiet_default=True,
        ),
        Parameter("require_all_images", False, "a submission must name every image"),
        Parameter("protocol", "tfod", "whose matching rules", short="protocol", choices=("tfod",)),
    ),
    long_columns=(
        Column("ImageID", "image", "the image's id, text"),
        Column("LabelName", "label", "a class, as in the class list"),
        Column("Score", "number", "confidence, larger is surer"),
        *(Column(name, "number", FRACTION) for name in BOX),
    ),
    tokens=(
        Column("LabelName", "label", "a class, as in the class list"),
        Column("Score", "number", "confidence, larger is surer"),
        *(Column(name, "number", FRACTION) for name in ("XMin", "YMin", "XMax", "YMax")),
    ),
    metrics=(Metric("mAP", "mAP", "mean over classes of average precision at the IoU threshold"),),
    class_columns=("ap", "truths", "scored", "true_positives", "false_positives"),
    example_rows=(
        "/m/01yrx 0.92 0.11 0.2 0.53 0.81 /m/0bt9lr 0.48 0.5 0.4 0.9 0.88",
        "0001eeaf4aed83f9,/m/01yrx,0.92,0.11,0.53,0.2,0.81",
    ),
    headline_explained=(
        "Mean average precision: for each class, how well confident boxes find its objects without false alarms; "
        "then the mean over all classes that have objects."
    ),
)

RELATIONSHIPS = Track(
    name="openimages-relationships",
    title="Visual relationships (Open Images)",
    summary="Pairs of boxes and what one does to the other: man plays guitar, chair is wooden.",
    truth_files=(
        TruthFile(
            "relationships.csv",
            (
                "ImageID",
                "LabelName1",
                "LabelName2",
                "RelationshipLabel",
                *(f"{name}{n}" for n in (1, 2) for name in BOX),
            ),
            "one row per related pair",
        ),
        TruthFile("image_labels.csv", IMAGE_LABELS, "verified labels", required=False),
        CLASSES,
        TruthFile(
            "relations.csv",
            ("RelationshipLabel", "DisplayName"),
            "headerless; with it, unknown relations are defects",
            required=False,
        ),
        IMAGES,
        USAGE,
    ),
    parameters=(
        Parameter("iou_threshold", 0.5, "overlap from which a detection hits a pair", short="iou", low=1e-9, high=1.0),
        Parameter(
            "weights",
            (0.4, 0.2, 0.4),
            "of mAP_relationships, recall@50 and mAP_phrases in the score",
            short="weights",
            low=0.0,
            high=1.0,
        ),
    ),
    long_columns=(
        Column("ImageID", "image", "the image's id, text"),
        Column("LabelName1", "label", "class of the first box"),
        Column("LabelName2", "label", "class or attribute of the second box"),
        Column("RelationshipLabel", "relation", "how the first relates to the second"),
        Column("Score", "number", "confidence, larger is surer"),
        *(Column(f"{name}{n}", "number", FRACTION) for n in (1, 2) for name in BOX),
    ),
    tokens=(
        Column("Score", "number", "confidence, larger is surer"),
        Column("LabelName1", "label", "class of the first box"),
        *(Column(f"{name}1", "number", FRACTION) for name in ("XMin", "YMin", "XMax", "YMax")),
        Column("LabelName2", "label", "class or attribute of the second box"),
        *(Column(f"{name}2", "number", FRACTION) for name in ("XMin", "YMin", "XMax", "YMax")),
        Column("RelationshipLabel", "relation", "how the first relates to the second"),
    ),
    metrics=(
        Metric("score", "Score", "0.4 mAP of relationships + 0.2 recall@50 + 0.4 mAP of phrases"),
        Metric(
            "mAP_relationships", "mAP relationships", "mean over relations of average precision; both boxes must fit"
        ),
        Metric("mAP_phrases", "mAP phrases", "the same for the one box around both"),
        Metric("recall@50", "Recall@50", "share of pairs found among the 50 most confident of each image"),
        Metric("recall@100", "Recall@100", "the same among 100"),
        Metric("weighted_ap_relationships", "AP relationships, pooled", "one average precision over all relations"),
        Metric("weighted_ap_phrases", "AP phrases, pooled", "the same for phrases"),
    ),
    class_columns=("ap_relationships", "ap_phrases", "truths"),
    example_rows=(
        "0.83 /m/04yx4 0.1 0.12 0.44 0.95 /m/0342h 0.2 0.4 0.5 0.8 plays",
        "00173afdc7581c41,/m/04yx4,/m/0342h,plays,0.83,0.1,0.44,0.12,0.95,0.2,0.5,0.4,0.8",
    ),
    headline_explained=(
        "Two fifths mean average precision of relationships, one fifth recall among the 50 surest of an image, "
        "two fifths mean average precision of phrases (the box around both)."
    ),
)
