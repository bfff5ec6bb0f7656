"""`podium verify` checks exported results against the ground truth and the submitted file."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.test import Client

from evaluator.cli import main
from evaluator.synthesis import synthesize
from server.challenges.models import Phase
from server.organize.services.importing import import_bundle
from server.organize.services.signing_keys import public_key
from tests.conftest import InlineQueue, Make
from tests.server.organize.conftest import BundleFolder


@pytest.mark.usefixtures("one_process")
def test_the_exported_results_match_the_truth_and_the_file(
    bundle: BundleFolder, make: Make, inline_queue: InlineQueue, client: Client, tmp_path: Path
) -> None:
    synthesize("objectnet", tmp_path / "made", images=40, qualities=(0.6,))
    for file in (bundle.path / "phases" / "main" / "truth").iterdir():
        file.unlink()
    for path in (tmp_path / "made" / "truth").iterdir():
        bundle.write(f"phases/main/truth/{path.name}", path.read_bytes())
    bundle.sheet(phase="    split: {public: 0.5}\n", text=bundle_text(bundle))
    organizer = make.user()
    import_bundle(path=bundle.path, by=organizer)
    phase = Phase.objects.get()
    file = next((tmp_path / "made" / "submissions").iterdir())
    make.submission(phase, content=file.read_bytes())
    inline_queue.work()
    client.force_login(organizer)
    results = tmp_path / "results.json"
    results.write_bytes(client.get("/challenges/animals/results.json?preliminary=1").content)
    with ZipFile(phase.truths.get().source.path) as source:
        source.extractall(tmp_path / "truth")
    document = json.loads(results.read_bytes())["results"]
    assert len(document["truth"]["usage_hash"]) == 64
    assert [len(board["entries"]) for board in document["leaderboards"]] == [1, 1]
    words = ["verify", str(results), "--key", public_key(), "--truth", str(tmp_path / "truth")]
    assert main([*words, "--submissions", str(file.parent)]) == 0
    (tmp_path / "truth" / "salt.txt").write_text("0" * 32)
    assert main(words) == 3


def bundle_text(bundle: BundleFolder) -> str:
    return (bundle.path / "challenge.yaml").read_text().replace("openimages-detection", "objectnet")
