"""The tracks of the Open Images Challenge, declared."""

from evaluator.catalog import explanations
from evaluator.catalog.forms import Column, Form
from evaluator.catalog.schema import TRUTHS, Heading, Metric, Parameter, Track, TruthFile

CLASSES = TruthFile(
    "classes.csv", ("LabelName", "DisplayName"), "headerless; with it, unknown labels are defects", required=False
)
AP = Heading("ap", "AP")
HIERARCHY = TruthFile("hierarchy.json", (), "nested LabelName and Subcategory", required=False)
IMAGE = Column("ImageID", "image", "the image's id, text")
LABEL = Column("LabelName", "label", "a class, as in the class list")
SCORE = Column("Score", "number", "confidence, larger is surer")
IMAGE_LABELS = ("ImageID", "LabelName", "Confidence")
BOX = ("XMin", "XMax", "YMin", "YMax")
ATTRIBUTES = ("IsOccluded", "IsTruncated", "IsDepiction", "IsInside")
FRACTION = "a fraction of the image's width or height"

OF_MASKED_IMAGE = (
    IMAGE,
    Column("ImageWidth", "width", "of the image and of all its masks, in pixels"),
    Column("ImageHeight", "height", "the same, its height"),
)
MASK = Column("Mask", "mask", "base64 of zlib of COCO's compressed run lengths, as in pycocotools")

MATCHING = (
    Parameter("iou_threshold", 0.5, "overlap from which a detection hits an object", short="iou", low=1e-9, high=1.0),
    Parameter(
        "group_of_weight",
        1.0,
        "what a group-of box counts; 0 makes it an ignore region",
        short="groupof",
        low=0.0,
        high=1.0,
        only_with=("protocol", "tfod"),
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
)
PROTOCOL = Parameter("protocol", "tfod", "whose matching rules", short="protocol", choices=("tfod",))

DETECTION = Track(
    name="openimages-detection",
    title="Object detection (Open Images)",
    summary="Boxes of many classes, with a class hierarchy, group-of boxes and labels that are not exhaustive.",
    truth=(
        TruthFile("boxes.csv", ("ImageID", "LabelName", *BOX, "IsGroupOf"), "one row per box", extras=ATTRIBUTES),
        TruthFile("image_labels.csv", IMAGE_LABELS, "verified labels: 1 present, 0 absent"),
        HIERARCHY,
        CLASSES,
    ),
    parameters=(
        *MATCHING,
        Parameter(
            "protocol",
            "tfod",
            "whose rules of matching: the official code's, or FiftyOne's",
            short="protocol",
            choices=("tfod", "fiftyone"),
        ),
        Parameter(
            "classwise",
            True,
            "a detection matches objects of its own class only; without, a confusion matrix is reported",
            short="classwise",
            quiet_default=True,
            only_with=("protocol", "fiftyone"),
        ),
    ),
    form=Form(
        "table",
        columns=(
            IMAGE,
            LABEL,
            SCORE,
            *(Column(name, "number", FRACTION) for name in BOX),
        ),
        tokens=(
            LABEL,
            SCORE,
            *(Column(name, "number", FRACTION) for name in ("XMin", "YMin", "XMax", "YMax")),
        ),
        example="0001eeaf4aed83f9,/m/01yrx,0.92,0.11,0.53,0.2,0.81",
        string_example="/m/01yrx 0.92 0.11 0.2 0.53 0.81 /m/0bt9lr 0.48 0.5 0.4 0.9 0.88",
    ),
    metrics=(Metric("mAP", "mAP", "mean over classes of average precision at the IoU threshold"),),
    class_columns=(
        AP,
        TRUTHS,
        Heading("scored", "Scored", "number"),
        Heading("true_positives", "True positives", "number"),
        Heading("false_positives", "False positives", "number"),
    ),
    explained_columns=explanations.RATES,
    explained_tables=explanations.OF_DETECTIONS,
    curves=("ap",),
    headline_explained=(
        "Mean average precision: for each class, how well confident boxes find its objects without false alarms; "
        "then the mean over all classes that have objects."
    ),
    implementation="evaluator.tracks.detection.scorer",
    intervals=True,
    world="evaluator.synthesis.detection",
)

SEGMENTATION = Track(
    name="openimages-segmentation",
    title="Instance segmentation (Open Images)",
    summary="Masks of many classes; some objects have a box only, and then what lies there is not held against anyone.",
    truth=(
        TruthFile("boxes.csv", ("ImageID", "LabelName", *BOX, "IsGroupOf"), "one row per box"),
        TruthFile(
            "masks.csv",
            ("ImageID", "LabelName", "ImageWidth", "ImageHeight", *BOX, "IsGroupOf", "Mask"),
            "the mask of a box, where there is one: the row has the box's label and numbers",
        ),
        TruthFile("image_labels.csv", IMAGE_LABELS, "verified labels: 1 present, 0 absent"),
        TruthFile(
            "images.csv",
            ("ImageID",),
            "every image of the test set with its size in pixels; a contest requires it, so that sizes reveal no mask",
            required=False,
            extras=("Width", "Height"),
        ),
        HIERARCHY,
        CLASSES,
    ),
    parameters=(*MATCHING, PROTOCOL),
    form=Form(
        "table",
        columns=(*OF_MASKED_IMAGE, LABEL, SCORE, MASK),
        tokens=(LABEL, SCORE, MASK),
        of_image=OF_MASKED_IMAGE,
        example="0001eeaf4aed83f9,8,6,/m/01yrx,0.92,eJyzMDI28jcAAUM/UwATLQLD",
        string_example="/m/01yrx 0.92 eJyzMDI28jcAAUM/UwATLQLD",
    ),
    metrics=(Metric("mAP", "mAP", "mean over classes of average precision at the IoU threshold of masks"),),
    class_columns=DETECTION.class_columns,
    curves=DETECTION.curves,
    headline_explained=(
        "Mean average precision: for each class, how well confident masks find its objects without false alarms; "
        "then the mean over all classes that have objects with masks."
    ),
    implementation="evaluator.tracks.segmentation.scorer",
    intervals=True,
    world="evaluator.synthesis.segmentation",
)

CLASSIFICATION = Track(
    name="openimages-classification",
    title="Image-level classification (Open Images)",
    summary="Which classes are in a picture, where labels are not exhaustive: only what was verified counts.",
    truth=(
        TruthFile("image_labels.csv", IMAGE_LABELS, "verified labels: 1 present, 0 absent"),
        HIERARCHY,
        CLASSES,
    ),
    form=Form(
        "table",
        columns=(IMAGE, LABEL, SCORE),
        tokens=(LABEL, SCORE),
        example="0001eeaf4aed83f9,/m/01yrx,0.92",
        string_example="/m/01yrx 0.92 /m/0bt9lr 0.48",
    ),
    metrics=(Metric("mAP", "mAP", "mean over classes of average precision"),),
    class_columns=(AP, Heading("truths", "Present in", "number"), Heading("images", "Verified in", "number")),
    headline_explained=(
        "Mean average precision: for each class, how well its confidence sorts the images where it was verified to be "
        "from those where it was verified not to be; then the mean over classes. No confidence counts as 0."
    ),
    empty="base rate",
    implementation="evaluator.tracks.classification",
    intervals=True,
    world="evaluator.synthesis.classification",
)

RELATIONSHIPS = Track(
    name="openimages-relationships",
    title="Visual relationships (Open Images)",
    summary="Pairs of boxes and what one does to the other: man plays guitar, chair is wooden.",
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
    form=Form(
        "table",
        columns=(
            IMAGE,
            Column("LabelName1", "label", "class of the first box"),
            Column("LabelName2", "label", "class or attribute of the second box"),
            Column("RelationshipLabel", "relation", "how the first relates to the second"),
            SCORE,
            *(Column(f"{name}{n}", "number", FRACTION) for n in (1, 2) for name in BOX),
        ),
        tokens=(
            SCORE,
            Column("LabelName1", "label", "class of the first box"),
            *(Column(f"{name}1", "number", FRACTION) for name in ("XMin", "YMin", "XMax", "YMax")),
            Column("LabelName2", "label", "class or attribute of the second box"),
            *(Column(f"{name}2", "number", FRACTION) for name in ("XMin", "YMin", "XMax", "YMax")),
            Column("RelationshipLabel", "relation", "how the first relates to the second"),
        ),
        example="00173afdc7581c41,/m/04yx4,/m/0342h,plays,0.83,0.1,0.44,0.12,0.95,0.2,0.5,0.4,0.8",
        string_example="0.83 /m/04yx4 0.1 0.12 0.44 0.95 /m/0342h 0.2 0.4 0.5 0.8 plays",
    ),
    metrics=(
        Metric("score", "Score", "0.4 mAP of relationships + 0.2 recall@50 + 0.4 mAP of phrases"),
        Metric(
            "mAP_relationships",
            "mAP relationships",
            "mean over relations of average precision; both boxes must fit",
            "mAP rel.",
        ),
        Metric("mAP_phrases", "mAP phrases", "the same for the one box around both", "mAP phr."),
        Metric(
            "recall@50", "Recall@50", "share of pairs found among the 50 most confident of each image", "R@50", "plain"
        ),
        Metric("recall@100", "Recall@100", "the same among 100", share="plain"),
        Metric("weighted_ap_relationships", "AP relationships, pooled", "one average precision over all relations"),
        Metric("weighted_ap_phrases", "AP phrases, pooled", "the same for phrases"),
    ),
    class_word="relation",
    class_columns=(
        Heading("ap_relationships", "AP relationships"),
        Heading("ap_phrases", "AP phrases"),
        TRUTHS,
    ),
    explained_columns=explanations.RATES,
    explained_tables=explanations.OF_RELATIONSHIPS,
    curves=("ap_relationships", "ap_phrases"),
    headline_explained=(
        "Two fifths mean average precision of relationships, one fifth recall among the 50 surest of an image, "
        "two fifths mean average precision of phrases (the box around both)."
    ),
    implementation="evaluator.tracks.relationships.scorer",
    intervals=True,
    world="evaluator.synthesis.relationships",
)
