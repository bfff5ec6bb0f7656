"""Declares the two tracks on Flickr30k: phrase grounding and image-sentence retrieval."""

from evaluator.catalog.forms import Column, Form
from evaluator.catalog.parameter import Parameter
from evaluator.catalog.schema import Metric, Modules, ReportColumn, Track, TruthFile

RAW = ("Sentences/", "Annotations/", "split.txt")
RECALLS = tuple(ReportColumn(f"recall@{k}", f"Recall@{k}") for k in (1, 5, 10))

GROUNDING = Track(
    name="flickr30k-grounding",
    title="Phrase grounding (Flickr30k Entities)",
    summary="Locate the objects that the phrases of a caption describe: a ranked list of boxes for each phrase.",
    truth=(
        TruthFile("phrases.jsonl", (), "one evaluated phrase per line, with its boxes", or_else=RAW),
        TruthFile(
            "Sentences/",
            (),
            "the published annotations, as an alternative to phrases.jsonl: one text file per image. Only the files of "
            "images in split.txt are needed",
            required=False,
        ),
        TruthFile("Annotations/", (), "the published annotations: one XML file per image", required=False),
        TruthFile("split.txt", (), "the published list of images to evaluate", required=False),
    ),
    form=Form(
        "json",
        columns=(
            Column("image_id", "text", "the image's id"),
            Column("sentence_id", "integer", "number of the sentence within its image, from 0"),
            Column(
                "boxes",
                "list",
                "for each evaluated phrase of the sentence, in order, a list of boxes [x1, y1, x2, y2] in pixels, "
                "counted from 0, best first; the list may be empty",
            ),
        ),
        example="""[
  {"image_id": "1016887272", "sentence_id": 2,
   "boxes": [[[161, 101, 255, 453], [0, 53, 332, 499]], []]},
  {"image_id": "1016887272", "sentence_id": 3,
   "boxes": [[[161, 101, 255, 453]], [[0, 53, 332, 499]], [[73, 301, 180, 499]]]}
]""",
    ),
    parameters=(
        Parameter(
            "box_rule",
            "merged",
            "how a phrase with several boxes is matched: by the box around all of them (merged), or by any one of "
            "them (any)",
            short="boxes",
            choices=("merged", "any"),
        ),
        Parameter(
            "iou_threshold",
            0.5,
            "smallest IoU at which a predicted box counts as correct for its phrase",
            short="iou",
            low=1e-9,
            high=1.0,
        ),
    ),
    metrics=(
        Metric(
            "recall@1", "Recall@1", "fraction of phrases that are matched by the first box in their list", share="plain"
        ),
        Metric(
            "recall@5",
            "Recall@5",
            "fraction of phrases that are matched by one of the first five boxes",
            "R@5",
            "plain",
        ),
        Metric(
            "recall@10",
            "Recall@10",
            "fraction of phrases that are matched by one of the first ten boxes",
            "R@10",
            "plain",
        ),
        Metric(
            "upper_bound",
            "Upper bound",
            "fraction of phrases that are matched by any box in their list",
            "Bound",
            "plain",
        ),
    ),
    class_word="phrase type",
    class_columns=(*RECALLS, ReportColumn("upper_bound", "Upper bound"), ReportColumn("truths", "Phrases", "number")),
    headline_explained="The fraction of phrases whose first box has an IoU of at least 0.5 with the phrase's box.",
    empty="rejected",
    modules=Modules(
        scorer="evaluator.tracks.grounding.scorer",
        compiler="evaluator.tracks.grounding.compiler",
        synthesizer="evaluator.synthesis.grounding",
        statistics="evaluator.tracks.grounding.statistics",
    ),
    intervals=True,
)

RIGHT = "with a correct answer among the first"
RETRIEVAL = Track(
    name="flickr30k-retrieval",
    title="Image-sentence retrieval (Flickr30k)",
    summary="Rank the sentences that may describe each image, and the images that each sentence may describe.",
    truth=(
        TruthFile(
            "gallery.json",
            (),
            "all images and captions; a caption is an object with caption_id, image_id and text. In a challenge, "
            "a caption_id must not reveal the caption's image",
        ),
    ),
    form=Form(
        "json",
        columns=(
            Column("image_to_sentence", "list", "for each image, a list of sentence ids, best first"),
            Column("sentence_to_image", "list", "for each sentence, a list of image ids, best first"),
        ),
        example="""{
  "image_to_sentence": {"1007129816": ["c4d1a90be27f", "c0b83f5512ae"],
                        "101362133": ["c0b83f5512ae"]},
  "sentence_to_image": {"c4d1a90be27f": ["1007129816", "101362133"],
                        "c0b83f5512ae": ["101362133"]}
}""",
    ),
    metrics=(
        Metric("mean_recall", "Mean recall", "mean of recall@1, @5 and @10 in both directions", share="mean"),
        *(
            Metric(
                f"image_to_sentence_recall@{k}",
                f"Image to sentence, recall@{k}",
                f"fraction of images {RIGHT} {k}",
                f"Sentence R@{k}",
                "plain",
            )
            for k in (1, 5, 10)
        ),
        *(
            Metric(
                f"sentence_to_image_recall@{k}",
                f"Sentence to image, recall@{k}",
                f"fraction of sentences {RIGHT} {k}",
                f"Image R@{k}",
                "plain",
            )
            for k in (1, 5, 10)
        ),
    ),
    class_word="direction",
    class_columns=(
        *RECALLS,
        ReportColumn("median_rank", "Median rank", "number"),
        ReportColumn("truths", "Queries", "number"),
    ),
    headline_explained=(
        "Recall@K is the fraction of queries with a correct answer among the first K; the score is the mean of "
        "recall@1, @5 and @10 in both directions, images to sentences and sentences to images."
    ),
    empty="rejected",
    modules=Modules(
        scorer="evaluator.tracks.retrieval.scorer",
        compiler="evaluator.tracks.retrieval.compiler",
        synthesizer="evaluator.synthesis.retrieval",
        statistics="evaluator.tracks.retrieval.statistics",
    ),
    intervals=True,
    gives_candidates=True,
)
