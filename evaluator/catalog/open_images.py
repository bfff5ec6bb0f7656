"""Declares the tracks for the Open Images Challenge."""

from evaluator.catalog import explanations
from evaluator.catalog.forms import Column, Form
from evaluator.catalog.parameter import Parameter
from evaluator.catalog.schema import POSITIVES, Metric, Modules, ReportColumn, Track, TruthFile

CLASSES = TruthFile(
    "classes.csv",
    ("LabelName", "DisplayName"),
    "the classes, without a header; if this file exists, any other label is reported as a defect",
    required=False,
)
AP = ReportColumn("ap", "AP")
HIERARCHY = TruthFile("hierarchy.json", (), "the class hierarchy: nested LabelName and Subcategory", required=False)
IMAGE = Column("ImageID", "image", "the image's id, text")
LABEL = Column("LabelName", "label", "a class, as in the class list")
SCORE = Column("Score", "number", "the confidence of the prediction; larger means more confident")
IMAGE_LABELS = ("ImageID", "LabelName", "Confidence")
BOX = ("XMin", "XMax", "YMin", "YMax")
ATTRIBUTES = ("IsOccluded", "IsTruncated", "IsDepiction", "IsInside")
FRACTION = "a fraction of the image's width or height"

OF_MASKED_IMAGE = (
    IMAGE,
    Column("ImageWidth", "width", "width of the image and of all its masks in pixels"),
    Column("ImageHeight", "height", "height of the image and of all its masks in pixels"),
)
MASK = Column(
    "Mask", "mask", "COCO's compressed run lengths (as in pycocotools), compressed with zlib and encoded as base64"
)

MATCHING = (
    Parameter(
        "iou_threshold", 0.5, "smallest IoU at which a detection matches an object", short="iou", low=1e-9, high=1.0
    ),
    Parameter(
        "group_of_weight",
        1.0,
        "weight of a group-of box; if it is 0, detections in the box are ignored",
        short="groupof",
        low=0.0,
        high=1.0,
        only_with=("protocol", "tfod"),
    ),
    Parameter(
        "expand_hierarchy",
        True,
        "whether an object also counts for the ancestors of its class",
        short="hierarchy",
        words=("expand", "none"),
        shapes_truth=True,
    ),
    Parameter(
        "expand_predictions",
        False,
        "whether a prediction also counts for the ancestors of its class",
        short="predictions",
        words=("expand", "none"),
        quiet_default=True,
    ),
    Parameter("require_all_images", False, "whether a submission must contain every image"),
)
PROTOCOL = Parameter("protocol", "tfod", "the matching rules", short="protocol", choices=("tfod",))

DETECTION = Track(
    name="openimages-detection",
    title="Object detection (Open Images)",
    summary="Detect objects of many classes, with a class hierarchy, group-of boxes and incomplete labels.",
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
            "the matching rules, either of the official code or of FiftyOne",
            short="protocol",
            choices=("tfod", "fiftyone"),
        ),
        Parameter(
            "classwise",
            True,
            "whether a detection can match only objects of its own class; if false, the report has a confusion matrix, "
            "and a match across classes is a false positive of the object's class in the counts and the AP of a class, "
            "but of the predicted class in its precision and F1",
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
    metrics=(Metric("mAP", "mAP", "average precision at the IoU threshold, averaged over classes"),),
    class_columns=(
        AP,
        POSITIVES,
        ReportColumn("scored", "Scored", "number"),
        ReportColumn("true_positives", "True positives", "number"),
        ReportColumn("false_positives", "False positives", "number"),
    ),
    explained_columns=explanations.RATES,
    explained_tables=explanations.OF_DETECTIONS,
    curves=("ap",),
    headline_explained=(
        "Mean average precision: the average precision of the boxes of each class, "
        "averaged over all classes that have objects."
    ),
    modules=Modules(
        scorer="evaluator.tracks.detection.scorer",
        compiler="evaluator.tracks.detection.compiler",
        fast_path="evaluator.tracks.detection.fast.scoring",
        explanation="evaluator.tracks.detection.explain.explanation",
        synthesizer="evaluator.synthesis.detection",
        statistics="evaluator.tracks.detection.statistics",
    ),
    intervals=True,
)

SEGMENTATION = Track(
    name="openimages-segmentation",
    title="Instance segmentation (Open Images)",
    summary="Segment objects of many classes. Predictions on objects that have only a box are ignored.",
    truth=(
        TruthFile("boxes.csv", ("ImageID", "LabelName", *BOX, "IsGroupOf"), "one row per box"),
        TruthFile(
            "masks.csv",
            ("ImageID", "LabelName", "ImageWidth", "ImageHeight", *BOX, "IsGroupOf", "Mask"),
            "the masks of the boxes that have a mask; each row repeats the label and the coordinates of its box",
        ),
        TruthFile("image_labels.csv", IMAGE_LABELS, "verified labels: 1 present, 0 absent"),
        TruthFile(
            "images.csv",
            ("ImageID",),
            "every test image with its size in pixels; required in a challenge, so that the sizes do not reveal "
            "which images have a mask",
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
    metrics=(Metric("mAP", "mAP", "average precision at the mask IoU threshold, averaged over classes"),),
    class_columns=DETECTION.class_columns,
    explained_columns=explanations.RATES,
    explained_tables=explanations.OF_MASKS,
    curves=DETECTION.curves,
    headline_explained=(
        "Mean average precision: the average precision of the masks of each class, "
        "averaged over all classes that have objects with masks."
    ),
    modules=Modules(
        scorer="evaluator.tracks.segmentation.scorer",
        compiler="evaluator.tracks.segmentation.compiler",
        explanation="evaluator.tracks.segmentation.explanation",
        synthesizer="evaluator.synthesis.segmentation",
        statistics="evaluator.tracks.segmentation.statistics",
    ),
    intervals=True,
)

CLASSIFICATION = Track(
    name="openimages-classification",
    title="Image-level classification (Open Images)",
    summary="Predict the classes that an image shows. Only the classes that were verified in an image count.",
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
    metrics=(Metric("mAP", "mAP", "mean over classes of the average precision"),),
    class_columns=(AP, ReportColumn("truths", "Present in", "number"), ReportColumn("images", "Verified in", "number")),
    explained_tables=(explanations.WRONG_CLASS,),
    curves=("ap",),
    interpolated=False,
    headline_explained=(
        "Mean average precision: for each class, the average precision over the images in which it was verified, "
        "ranked by confidence; then the mean over classes. A missing confidence counts as 0."
    ),
    empty="base rate",
    modules=Modules(
        scorer="evaluator.tracks.classification.scorer",
        compiler="evaluator.tracks.classification.compiler",
        fast_path="evaluator.tracks.classification.fast.scoring",
        explanation="evaluator.tracks.classification.explanation",
        synthesizer="evaluator.synthesis.classification",
        statistics="evaluator.tracks.classification.statistics",
    ),
    intervals=True,
)
