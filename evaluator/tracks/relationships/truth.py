"""Defines the ground truth and the parameters of the relationships track."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.tracks.relationships.triplets import TripletKeys
from evaluator.tracks.shared.label_truth import LabelTruth, StoredIndex, by_name, sorted_by_id
from evaluator.tracks.shared.parameters import TrackParameters
from evaluator.truth import StoredArray, StoredTexts

Weights = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class RelationshipsParameters(TrackParameters):
    """The parameters of the relationships track.

    Attributes
    ----------
    iou_threshold : float
        Smallest overlap at which a pair hits a triplet or a phrase.
    weights : three floats
        Weights, in the score, of the mAP of relationships, of recall@50 and of the mAP of phrases.
    """

    iou_threshold: float
    weights: Weights


class RelationshipsTruth(LabelTruth):
    """The ground truth: triplets of two labelled boxes and a relation, and the labels that are verified in each image.

    The M triplets are sorted by key (:class:`TripletKeys`) and then by row of relationships.csv. A label is *verified*
    in an image if image_labels.csv has a row for it or if a triplet of the image has it. The key of a label in an image
    is (image code × number of labels + label code).
    """

    relations = StoredTexts()
    """The id of each relation. The index of a relation in this sequence is its code."""
    relation_names = StoredTexts()
    """Display name of each relation."""
    triplets = StoredArray[np.int64]()
    """Key of each triplet (image, both labels and relation as one number), ascending; shape (M,)."""
    triplet_images = StoredArray[np.int64]("images")
    """Code of the image of each triplet, ascending; shape (M,)."""
    triplet_relations = StoredArray[np.int64]("relations")
    """Code of the relation of each triplet; shape (M,)."""
    triplet_rows = StoredArray[np.int32]("rows")
    """Row of each triplet in relationships.csv, counted from 0; shape (M,)."""
    first_boxes = StoredArray[np.float32]("first")
    """XMin, XMax, YMin, YMax of the first box of each triplet; shape (M, 4)."""
    second_boxes = StoredArray[np.float32]("second")
    """XMin, XMax, YMin, YMax of the second box of each triplet; shape (M, 4)."""
    verified = StoredArray[np.int64]("known")
    """Keys (image and label) of the verified labels of all images, ascending and distinct; shape (V,)."""
    negative = StoredArray[np.int64]()
    """The keys in ``verified`` whose label is in no triplet of the image, ascending; shape (at most V,)."""
    image_labels = StoredArray[np.int32]("told")
    """2 × label, plus 1 if the label is negative, for each key in ``verified``; shape (V,)."""
    image_labels_from = StoredArray[np.int32]("told_from")
    """Index into ``image_labels`` of the first label of each image, followed by V; shape (images + 1,)."""
    triplets_from = StoredArray[np.int32]()
    """Index of the first triplet of each image, followed by M; shape (images + 1,)."""

    image_index = StoredIndex("images")
    """Hash table that maps each image id to its code."""
    label_index = StoredIndex("labels")
    """Hash table that maps each label to its code."""
    relation_index = StoredIndex("relations")
    """Hash table that maps each relation to its code."""

    @property
    def public_texts(self) -> dict[str, Sequence[str]]:
        """The image ids, labels, relations and display names that participants may see."""
        listed = self.relations_listed
        relations, names = sorted_by_id(self.relations, self.relation_names) if listed else ([], [])
        return {**super().public_texts, "relations": relations, "relation_names": names}

    @property
    def relations_listed(self) -> bool:
        """Whether ``relations.csv`` lists the relations. If so, any other relation in a submission is a defect."""
        return self.flags["relations_listed"]

    @property
    def relations_by_name(self) -> dict[str, str]:
        """A dict that maps each display name in ``relations.csv``, in lower case, to the relation."""
        return by_name(self.relations, self.relation_names if self.relations_listed else ())

    @property
    def keys(self) -> TripletKeys:
        """The object that converts the codes of an image, two labels and a relation to a triplet key and back."""
        return TripletKeys(len(self.labels), len(self.relations))

    def positives(self, split: str) -> NDArray[np.int64]:
        """Return the number of triplets of each relation in a split, shape (relations,)."""
        chosen = self.triplet_relations[self.splits[split][self.triplet_images]]
        return np.bincount(chosen, minlength=len(self.relations))

    def shown_relations(self, split: str) -> list[int]:
        """Return the relations in a split's report: those in relations.csv or, if it is missing, those in the split.

        Rows for other relations would show participants which relations occur only in private images.
        """
        if self.relations_listed:
            return list(range(len(self.relations)))
        return np.flatnonzero(self.positives(split)).tolist()
