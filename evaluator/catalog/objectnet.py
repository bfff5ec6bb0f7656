"""The ObjectNet challenge, declared."""

from evaluator.catalog.forms import Column, Form
from evaluator.catalog.schema import Heading, Metric, Parameter, ReportTable, Track, TruthFile

FILE = Column("file", "file", "the image's file name; folders before it do not count")
GUESSES = 5
TOP1, TOP5, IMAGES = Heading("top1", "Top 1"), Heading("top5", "Top 5"), Heading("truths", "Images", "number")

OBJECTNET = Track(
    name="objectnet",
    title="Object classification (ObjectNet)",
    summary="One object an image, seen from odd sides in odd places: five guesses, the best one first.",
    truth=(
        TruthFile("answers.json", (), "the class id of each file, as in {file: id}"),
        TruthFile("classes.csv", ("LabelName", "DisplayName"), "headerless; names of the class ids", required=False),
        TruthFile(
            "controls.csv",
            ("file", "background", "rotation", "viewpoint"),
            "how each picture was taken",
            required=False,
        ),
    ),
    form=Form(
        "rows",
        columns=(
            FILE,
            *(
                column
                for place in range(1, GUESSES + 1)
                for column in (
                    Column(f"id{place}", "label", "a class id from 0 to 312; -1 or nothing for no guess"),
                    Column(f"conf{place}", "unread", "a confidence; the order of the row decides, so it is not read"),
                )
            ),
        ),
        example="0ab390d15ad8445.png,297,0.61,20,0.2,-1,0.1,,,,",
        of_image=(FILE,),
        one_each=True,
    ),
    parameters=(
        Parameter("top_k", GUESSES, "how many guesses count for the second metric", short="top", low=1, high=GUESSES),
    ),
    metrics=(
        Metric("top1", "Top 1", "share of images whose first guess is right", share="plain"),
        Metric("top5", "Top 5", "share of images with a right guess among the first five, or top_k", "Top 5", "plain"),
        Metric(
            "mean_class_top1",
            "Top 1, mean of classes",
            "the share in each class; then the mean over classes",
            "Top 1 by class",
            "mean",
        ),
        Metric(
            "mean_class_top5",
            "Top 5, mean of classes",
            "the same among the first five, or top_k",
            "Top 5 by class",
            "mean",
        ),
    ),
    class_columns=(TOP1, TOP5, IMAGES),
    tables=(
        ReportTable(
            "controls",
            "How the picture was taken",
            (Heading("control", "Control", "text"), Heading("value", "Value", "text"), TOP1, TOP5, IMAGES),
        ),
        ReportTable(
            "spreads",
            "From the best to the worst",
            (
                Heading("control", "Control", "text"),
                Heading("best", "Best", "text"),
                Heading("best_top1", "its top 1"),
                Heading("worst", "Worst", "text"),
                Heading("worst_top1", "its top 1"),
                Heading("spread", "Spread"),
            ),
        ),
    ),
    headline_explained="The share of images whose first guess is right; an image without a row counts as wrong.",
    empty="rejected",
    implementation="evaluator.tracks.objectnet",
    intervals=True,
    world="evaluator.synthesis.objectnet",
)
