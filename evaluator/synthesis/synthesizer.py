"""Defines the interface of a synthesizer, which generates ground truths and submissions for a track."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluator.synthesis.random_stream import RandomStream
from evaluator.synthesis.text_columns import TextColumn


class Scene(Protocol):
    """The interface of a scene: a group of images that are generated together, with their ground truth."""

    def truth(self) -> Mapping[str, bytes]:
        """Return the content that the images of the scene add to each ground truth file, by file name."""

    def predictions(self, stream: RandomStream, *, quality: float) -> Sequence[bytes]:
        """Return predictions of the given quality for the scene, once in each file layout that the track accepts."""


@dataclass(frozen=True, slots=True)
class Synthesizer:
    """Describes how ground truths and submissions for one track are generated.

    Attributes
    ----------
    image_files : sequence of str
        Names of the ground truth files to which every image adds content.
    scene : callable
        A function that takes a random stream, the image ids and the mean number of objects per image, and returns a
        scene.
    static_files : mapping of str to str
        Content of the ground truth files that do not depend on the images, by file name.
    with_optional_columns : sequence of str
        Names of the ground truth files that are written with their optional columns.
    single_scene : bool
        Whether all images must be generated as one scene instead of in blocks. This is necessary for JSON files and
        rankings.
    """

    image_files: Sequence[str]
    scene: Callable[[RandomStream, TextColumn, int], Scene]
    static_files: Mapping[str, str] = field(default_factory=dict)
    with_optional_columns: Sequence[str] = ()
    single_scene: bool = False
