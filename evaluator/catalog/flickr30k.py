"""The two tracks on Flickr30k, declared: phrases and their boxes, sentences and their images."""

from evaluator.catalog.forms import Column, Form
from evaluator.catalog.schema import Heading, Metric, Parameter, Track, TruthFile

RAW = ("Sentences/", "Annotations/", "split.txt")
RECALLS = tuple(Heading(f"recall@{k}", f"Recall@{k}") for k in (1, 5, 10))

GROUNDING = Track(
    name="flickr30k-grounding",
    title="Phrase grounding (Flickr30k Entities)",
    summary="Where in the picture is what a phrase of its caption speaks of: a ranked list of boxes for each phrase.",
    truth=(
        TruthFile("phrases.jsonl", (), "one evaluated phrase a line, with its boxes", or_else=RAW),
        TruthFile("Sentences/", (), "as published, instead of phrases.jsonl: one text an image", required=False),
        TruthFile("Annotations/", (), "as published: one XML an image", required=False),
        TruthFile("split.txt", (), "as published: the images to evaluate", required=False),
    ),
    form=Form(
        "json",
        columns=(
            Column("image_id", "text", "the image's id"),
            Column("sentence_id", "integer", "which of the image's sentences, from 0"),
            Column(
                "boxes",
                "list",
                "for each evaluated phrase of the sentence, in order, a list of boxes [x1, y1, x2, y2] in pixels from "
                "0, the best one first; the list may be empty",
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
            "a phrase of several boxes is the one box around them (merged), or any of them will do (any)",
            short="boxes",
            choices=("merged", "any"),
        ),
        Parameter("iou_threshold", 0.5, "overlap from which a box finds its phrase", short="iou", low=1e-9, high=1.0),
    ),
    metrics=(
        Metric("recall@1", "Recall@1", "share of phrases that the first box of their list finds", share="plain"),
        Metric("recall@5", "Recall@5", "share of phrases that one of the first five boxes finds", "R@5", "plain"),
        Metric("recall@10", "Recall@10", "the same among the first ten", "R@10", "plain"),
        Metric("upper_bound", "Upper bound", "share of phrases that any box of their list finds", "Bound", "plain"),
    ),
    class_word="phrase type",
    class_columns=(*RECALLS, Heading("upper_bound", "Upper bound"), Heading("truths", "Phrases", "number")),
    headline_explained=(
        "The share of phrases whose first box overlaps what the phrase speaks of by half or more "
        "(intersection over union)."
    ),
    empty="rejected",
    implementation="evaluator.tracks.grounding.scorer",
    intervals=True,
    world="evaluator.synthesis.grounding",
)

RIGHT = "with a right answer among the first"
RETRIEVAL = Track(
    name="flickr30k-retrieval",
    title="Image-sentence retrieval (Flickr30k)",
    summary="Which sentences belong to an image, and which image to a sentence: a ranked list for each, both ways.",
    truth=(
        TruthFile(
            "gallery.json",
            (),
            "images and captions: all that there is to find; a caption is an object with caption_id, image_id and "
            "text. In a contest a caption_id must not show its image",
        ),
    ),
    form=Form(
        "json",
        columns=(
            Column("image_to_sentence", "list", "for each image, ids of sentences, the best one first"),
            Column("sentence_to_image", "list", "for each sentence, ids of images, the best one first"),
        ),
        example="""{
  "image_to_sentence": {"1007129816": ["c4d1a90be27f", "c0b83f5512ae"],
                        "101362133": ["c0b83f5512ae"]},
  "sentence_to_image": {"c4d1a90be27f": ["1007129816", "101362133"],
                        "c0b83f5512ae": ["101362133"]}
}""",
    ),
    metrics=(
        Metric("mean_recall", "Mean recall", "mean of the six recalls below", share="mean"),
        *(
            Metric(
                f"image_to_sentence_recall@{k}",
                f"Image to sentence, recall@{k}",
                f"share of images {RIGHT} {k}",
                f"Sentence R@{k}",
                "plain",
            )
            for k in (1, 5, 10)
        ),
        *(
            Metric(
                f"sentence_to_image_recall@{k}",
                f"Sentence to image, recall@{k}",
                f"share of sentences {RIGHT} {k}",
                f"Image R@{k}",
                "plain",
            )
            for k in (1, 5, 10)
        ),
    ),
    class_word="way",
    class_columns=(
        *RECALLS,
        Heading("median_rank", "Median rank", "number"),
        Heading("truths", "Queries", "number"),
    ),
    headline_explained=(
        "Recall@K is the share of queries with a right answer among their first K; the score is the mean of "
        "recall@1, @5 and @10 of both ways, images to sentences and sentences to images."
    ),
    empty="rejected",
    implementation="evaluator.tracks.retrieval.scorer",
    intervals=True,
    gives_candidates=True,
    world="evaluator.synthesis.retrieval",
)
