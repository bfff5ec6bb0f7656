"""Errors in a bundle are reported with file, line and key, offline and through the API, and nothing is imported."""

from pathlib import Path
from typing import Any

import pytest

from evaluator.cli import check_bundle
from server.challenges.models import Challenge
from tests.conftest import Make
from tests.server.documented import Api
from tests.server.organize.broken_bundles import BROKEN, Broken, Place
from tests.server.organize.broken_tracks import BROKEN_TRACKS, RELATED, RELATIONSHIPS, header
from tests.server.organize.conftest import SHEET, BundleFolder


def places(problems: list[dict[str, Any]]) -> set[Place]:
    return {(one["code"], one.get("file"), one["line"], one["column"]) for one in problems}


ROWS = BROKEN + BROKEN_TRACKS


def test_there_are_eighty_broken_bundles() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS) >= 80


@pytest.mark.usefixtures("one_process", "inline_queue")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_each_mistake_in_a_broken_bundle_is_reported_with_its_location(
    row: Broken, bundle: BundleFolder, api: Api, make: Make, tmp_path: Path
) -> None:
    row.apply(bundle)
    problems, warnings = check_bundle.check_bundle(bundle.path)
    offline = places([one.as_dict() for one in (warnings if row.warns else problems)])
    assert row.found in offline
    staff = make.user(is_staff=True)
    content = bundle.zipped(tmp_path / "bundle.zip").read_bytes()
    told = api.upload("challenges", file=content, name="bundle.zip", user=staff, scope="organize")
    assert told.status_code == (201 if row.warns and not problems else 422)
    assert places(told.json()["warnings" if row.warns else "faults"]) == offline
    assert Challenge.objects.count() == (told.status_code == 201)


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize("related", [None, header(RELATED)])
def test_a_truth_of_another_track_is_named(related: str | None, bundle: BundleFolder) -> None:
    bundle.sheet(text=SHEET.replace("openimages-detection", RELATIONSHIPS))
    if related:
        bundle.write("phases/main/truth/relationships.csv", related)
    problems, _ = check_bundle.check_bundle(bundle.path)
    assert "The folder contains the files of openimages-detection" in problems[0].message


def test_two_checks_of_a_bundle_have_equal_results(bundle: BundleFolder) -> None:
    bundle.sheet(phase="    split: {public: 0.5}\n")
    assert len({str(check_bundle.check_bundle(bundle.path)) for _ in range(3)}) == 1
