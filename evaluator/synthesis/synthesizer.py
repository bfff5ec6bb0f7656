"""The interface of a synthesizer, which generates ground truths and predictions for a track."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluator.synthesis.random_stream import RandomStream
from evaluator.synthesis.text_columns import TextColumn


class Scene(Protocol):
    """Generated images with their ground truth."""

    def truth(self) -> Mapping[str, bytes]:
        """Return, by file name, the content that these images add to each ground truth file."""

    def predictions(self, stream: RandomStream, *, quality: float) -> Sequence[bytes]:
        """Return the predictions for the images, once in each file layout that the track accepts."""


@dataclass(frozen=True, slots=True)
class Synthesizer:
    """Generates the images of one track.

    Attributes
    ----------
    image_files : sequence of str
        Names of the truth files to which every image adds content.
    scene : callable
        A function that takes a random stream, the image ids and the mean number of objects per image, and returns a
        scene.
    static_files : mapping of str to str
        Content, by file name, of the truth files that do not depend on the images.
    with_optional_columns : sequence of str
        Names of the truth files that are written with their optional columns.
    single_scene : bool
        Whether all images must be generated as one scene instead of in blocks. JSON files and rankings require this.
    """

    image_files: Sequence[str]
    scene: Callable[[RandomStream, TextColumn, int], Scene]
    static_files: Mapping[str, str] = field(default_factory=dict)
    with_optional_columns: Sequence[str] = ()
    single_scene: bool = False
