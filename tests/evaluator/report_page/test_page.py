"""Tests the HTML file that `podium score --report` writes."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evaluator.cli import main
from evaluator.digits import published
from tests.evaluator.conftest import TRUTH, Tiny

LOADS = {
    "src",
    "href",
    "srcset",
    "data",
    "poster",
    "background",
    "action",
    "formaction",
    "xlink:href",
    "ping",
    "manifest",
}
SALT = "0123456789abcdef0123456789abcdef"


class Elements(HTMLParser):
    """Collects the element names, attribute names, ids and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        self.ids.update(value or "" for name, value in attrs if name == "id")

    def handle_data(self, data: str) -> None:
        self.text += data


def written(tiny: Tiny, *words: object) -> str:
    page = tiny.truth.parent / "out.html"
    given = ("score", tiny.track, "--truth", tiny.truth, "--submission", tiny.long, "--report", page, *words)
    assert main([str(word) for word in given]) == 0
    return page.read_text()


def test_the_file_loads_nothing(tiny: Tiny) -> None:
    page = written(tiny)
    elements = Elements(page)
    assert not LOADS & elements.attributes
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form"} & set(elements.tags)
    assert re.findall(r"https?://|url\(|@import|//[a-z]", page) == []


def test_the_file_has_every_part_of_the_report(tiny: Tiny) -> None:
    elements = Elements(written(tiny))
    titles = ["metrics", "public-curves-part", "public-errors-part", "public-confusions-part"]
    titles += ["public-breakdown-part", "public-settings-part", "public-classes-part"]
    assert set(titles) <= set(elements.ids)
    assert "openimages-detection|iou:0.5|" in elements.text
    assert elements.tags["svg"] > 1


def test_the_ids_of_several_splits_are_distinct(tiny: Tiny) -> None:
    usage = tiny.truth.parent / "usage.csv"
    usage.write_text("ImageID,Usage\nstreet,Public\nkitchen,Private\ngarden,Private\n")
    elements = Elements(written(tiny, "--usage", usage))
    assert {"public-curves", "private-curves", "all-curves"} <= set(elements.ids)
    assert elements.ids.most_common(1)[0][1] == 1


def test_the_file_names_no_image_and_no_secret(tiny: Tiny) -> None:
    """Like the report page of the server, the file contains no image ids, no salt and no local paths."""
    (tiny.truth / "salt.txt").write_text(SALT + "\n")
    page = written(tiny, "--matches", tiny.truth.parent / "m.csv")
    images = {line.split(",")[0] for line in TRUTH["boxes.csv"].splitlines()[1:]}
    assert "street" in (tiny.truth.parent / "m.csv").read_text()
    assert [secret for secret in (*images, "attic", SALT, str(tiny.truth.parent)) if secret in page] == []


def test_ends_of_intervals_are_rounded_outward_as_on_the_server(tiny: Tiny) -> None:
    answer = tiny.truth.parent / "report.json"
    page = written(tiny, "--bootstrap", 50, "--json", answer)
    exact = json.loads(answer.read_text())["splits"]["all"]["intervals"]["mAP"]
    low, high = published(tuple(exact))
    assert (low, high) != tuple(exact)
    assert f"(95%: {low} to {high})" in page
    assert [end for end in exact if repr(end) in page] == []


def test_the_faint_digits_of_uncertain_scores_are_explained(tiny: Tiny) -> None:
    assert "Faint digits are uncertain" in Elements(written(tiny, "--bootstrap", 50)).text
    assert "Faint digits are uncertain" not in Elements(written(tiny)).text


def test_the_file_has_the_notices_about_the_submission(tiny: Tiny) -> None:
    header, *rows = tiny.long.read_text().splitlines()
    tiny.long.write_text("\n".join([header, *rows, *[rows[0].replace("street", "<street>")] * 2_500]) + "\n")
    elements = Elements(written(tiny))
    assert "notices" in elements.ids
    assert "rows for images that are not in the ground truth were ignored (2,501 times)" in elements.text


def test_an_undefined_score_is_explained(tiny: Tiny) -> None:
    boxes = tiny.truth / "boxes.csv"
    assert "is undefined" not in Elements(written(tiny)).text
    boxes.write_text(boxes.read_text().splitlines()[0] + "\n")
    assert "The score is undefined, because the ground truth of this split" in Elements(written(tiny)).text


def test_the_name_of_the_file_is_escaped(tiny: Tiny) -> None:
    named = tiny.long.with_name("<b>&.csv")
    tiny.long.rename(named)
    page = written(Tiny(tiny.track, tiny.truth, named, tiny.kaggle))
    assert "<h1><bdi>&lt;b&gt;&amp;.csv</bdi></h1>" in page
    assert "b" not in Elements(page).tags


@pytest.mark.parametrize(
    "track", ["flickr30k-grounding", "flickr30k-retrieval", "objectnet", "openimages-relationships"]
)
def test_every_kind_of_track_has_a_report(track: str, tmp_path: Path) -> None:
    """Some tracks have no curves, and some have no explanation."""
    assert main(["synthesize", track, "--out", str(tmp_path / "made"), "--images", "20", "--quality", "0.5"]) == 0
    submission = min((tmp_path / "made" / "submissions").iterdir())
    given = ["score", track, "--truth", str(tmp_path / "made" / "truth"), "--submission", str(submission)]
    assert main([*given, "--report", str(tmp_path / "out.html")]) == 0
    assert "metrics" in Elements((tmp_path / "out.html").read_text()).ids
