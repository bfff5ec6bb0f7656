"""Declares the track for the ObjectNet challenge."""

from evaluator.catalog import explanations
from evaluator.catalog.forms import Column, Form
from evaluator.catalog.parameter import Parameter
from evaluator.catalog.schema import Metric, Modules, ReportColumn, ReportTable, Track, TruthFile

FILE = Column("file", "file", "the image's file name; leading folders are ignored")
GUESSES = 5
TOP1, TOP5, IMAGES = (
    ReportColumn("top1", "Top 1"),
    ReportColumn("top5", "Top 5"),
    ReportColumn("truths", "Images", "number"),
)

OBJECTNET = Track(
    name="objectnet",
    title="Object classification (ObjectNet)",
    summary="Name the object in each image, with up to five guesses. The settings and viewpoints are unusual.",
    truth=(
        TruthFile(
            "answers.json",
            (),
            "an object that maps each file name to its class id, from 0 to 312; leading folders are ignored",
        ),
        TruthFile(
            "classes.csv", ("LabelName", "DisplayName"), "the names of the class ids, without a header", required=False
        ),
        TruthFile(
            "controls.csv",
            ("file", "background", "rotation", "viewpoint"),
            "how each image was taken",
            required=False,
        ),
    ),
    form=Form(
        "rows",
        columns=(
            FILE,
            *(
                column
                for rank in range(1, GUESSES + 1)
                for column in (
                    Column(f"id{rank}", "label", "a class id from 0 to 312; -1 or empty for no guess"),
                    Column(
                        f"conf{rank}",
                        "unread",
                        "the confidence; ignored, because guesses are ranked by their order",
                    ),
                )
            ),
        ),
        example="0ab390d15ad8445.png,297,0.61,20,0.2,-1,0.1,,,,",
        of_image=(FILE,),
        one_each=True,
    ),
    parameters=(
        Parameter(
            "top_k",
            GUESSES,
            "number of guesses that the second metric takes into account",
            short="top",
            low=1,
            high=GUESSES,
        ),
    ),
    metrics=(
        Metric("top1", "Top 1", "fraction of images whose first guess is correct", share="plain"),
        Metric(
            "top5", "Top 5", "fraction of images with a correct guess among the first five (or top_k)", "Top 5", "plain"
        ),
        Metric(
            "mean_class_top1",
            "Top 1, mean of classes",
            "fraction of images whose first guess is correct, averaged over classes",
            "Top 1 by class",
            "mean",
        ),
        Metric(
            "mean_class_top5",
            "Top 5, mean of classes",
            "fraction of images with a correct guess among the first five (or top_k), averaged over classes",
            "Top 5 by class",
            "mean",
        ),
    ),
    class_columns=(TOP1, TOP5, IMAGES),
    tables=(
        ReportTable(
            "controls",
            "How the image was taken",
            (ReportColumn("control", "Control", "text"), ReportColumn("value", "Value", "text"), TOP1, TOP5, IMAGES),
        ),
        ReportTable(
            "spreads",
            "Best and worst value of each control",
            (
                ReportColumn("control", "Control", "text"),
                ReportColumn("best", "Best value", "text"),
                ReportColumn("best_top1", "Top 1 at the best value"),
                ReportColumn("worst", "Worst value", "text"),
                ReportColumn("worst_top1", "Top 1 at the worst value"),
                ReportColumn("spread", "Spread"),
            ),
        ),
    ),
    explained_tables=(explanations.WRONG_CLASS, explanations.CONFUSION),
    headline_explained="The fraction of images whose first guess is correct; an image without a row counts as wrong.",
    empty="rejected",
    modules=Modules(
        scorer="evaluator.tracks.objectnet.scorer",
        compiler="evaluator.tracks.objectnet.compiler",
        explanation="evaluator.tracks.objectnet.explanation",
        synthesizer="evaluator.synthesis.objectnet",
        statistics="evaluator.tracks.objectnet.statistics",
    ),
    intervals=True,
)
