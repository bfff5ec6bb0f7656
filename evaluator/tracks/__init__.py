"""One contest each: how its files become numbers."""

from evaluator.tracks import openimages_detection, openimages_relationships
from evaluator.tracks.contest import Contest

CONTESTS: dict[str, Contest] = {
    contest.track.name: contest for contest in (openimages_detection.CONTEST, openimages_relationships.CONTEST)
}
