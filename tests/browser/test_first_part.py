"""In a browser, the submit page checks the first part of a chosen file before the upload."""

import gzip
from random import Random

import pytest

from evaluator.catalog import TRACKS
from server.accounts.models import User
from server.challenges.models import Phase
from tests.browser.conftest import Open
from tests.conftest import Make

pytestmark = [pytest.mark.browser, pytest.mark.enable_socket]

KAGGLE = "ImageId,PredictionString\n"
LONG = "ImageID,LabelName,Score,XMin,XMax,YMin,YMax\n"
RIGHT = ["No problems in the first"]
# Maps each test case to the content of a submission file and to the messages that the browser shows before an upload.
FILES = {
    "right": (f"{KAGGLE}a,/m/1 0.5 0.1 0.1 0.2 0.2\nb,\n", RIGHT),
    "right, long": (f"{LONG}a,/m/1,0.5,0.1,0.2,0.1,0.2\n", RIGHT),
    "other order of columns": ("LabelName,imageid,Score,XMin,XMax,YMin,YMax\n/m/1,a,.5,0,1,0,1e0\n", RIGHT),
    "byte order mark": (f"\ufeff{KAGGLE}a,\r\n", RIGHT),
    "empty": ("", ["The file is empty."]),
    "zip archive": ("PK\x03\x04", ["zip archive"]),
    "NUL": (f"{KAGGLE}\x00", ["NUL bytes"]),
    "semicolons": (KAGGLE.replace(",", ";"), ["semicolons"]),
    "tabs": (KAGGLE.replace(",", "\t"), ["tabs"]),
    "header": ("image,boxes\n", ["The first line is “image,boxes”", "ImageId,PredictionString"]),
    "cells": (f"{LONG}a,/m/1,0.5,0.1\n", ["Line 2: 4 cells. Expected 7."]),
    "tokens": (f"{KAGGLE}a,\nb,/m/1 0.5 0.1\n", ["Line 3: 3 tokens. Expected a multiple of 6."]),
    "number": (f"{KAGGLE}a,/m/1 high 0.1 0.1 0.2 0.2\n", ["Line 2: Score is “high”. Expected a number."]),
    "NaN": (f"{LONG}a,/m/1,0.5,nan,0.2,0.1,0.2\n", ["Line 2: XMin is “nan”."]),
    "pixels": (f"{KAGGLE}a,/m/1 0.5 10 20 300 400\n", ["Every box is outside its image. Are these pixels?"]),
    "inverted": (f"{KAGGLE}a,/m/1 0.5 0.9 0.1 0.2 0.2\n", ["1 of 1 boxes have a minimum that is larger"]),
}


@pytest.mark.phase(challenge={"slug": "c"})
def test_problems_are_shown_when_a_file_is_chosen(phase: Phase, team: object, member: User, visit: Open) -> None:
    page = visit(member).new_page()
    page.goto("/challenges/c/submit")
    for name, (content, texts) in FILES.items():
        packed = [content.encode(), gzip.compress(content.encode())] if content else [b""]
        for buffer in packed:
            page.set_input_files("input[type=file]", {"name": name, "mimeType": "text/csv", "buffer": buffer})
            for text in texts:
                page.locator("#first-part").get_by_text(text).wait_for()


@pytest.mark.phase(challenge={"slug": "c"})
def test_a_line_that_is_cut_off_at_the_end_of_the_first_part_is_not_a_problem(
    phase: Phase, team: object, member: User, visit: Open
) -> None:
    page = visit(member).new_page()
    page.goto("/challenges/c/submit")
    random = Random(1)
    rows = "".join(f"image{number},/m/1 {random.random()} 0.1 0.1 0.2 0.2\n" for number in range(20_000))
    content = f"{KAGGLE}{rows}".encode()
    for buffer in (content, gzip.compress(content)):
        page.set_input_files("input[type=file]", {"name": "a", "mimeType": "text/csv", "buffer": buffer})
        page.locator("#first-part").get_by_text("No problems in the first").wait_for()
        page.set_input_files("input[type=file]", [])


def test_the_worked_examples_of_all_tracks_have_no_problems(make: Make, member: User, visit: Open) -> None:
    page = visit(member).new_page()
    challenge = make.challenge(slug="c")
    make.team(challenge, member)
    for name, track in TRACKS.items():
        phase = make.phase(challenge, track=name)
        page.goto(f"/challenges/c/submit?phase={phase.slug}")
        for shape in track.form.shapes:
            content = shape.example.encode()
            page.set_input_files("input[type=file]", {"name": "a", "mimeType": "text/csv", "buffer": content})
            page.locator("#first-part > *").first.wait_for(state="attached")
            assert page.locator("#first-part .notice").count() == 0, shape.example
