"""Garbage collection is disabled while a JSON submission is read, and enabled again afterwards, even after a defect."""

import gc
from pathlib import Path

import pytest

from evaluator.files.documents import Document
from evaluator.scoring import check

EMPTY = {"flickr30k-retrieval": '{"image_to_sentence": {}, "sentence_to_image": {}}', "flickr30k-grounding": "[]"}


@pytest.mark.parametrize("track", EMPTY)
@pytest.mark.parametrize("is_valid", [True, False])
def test_garbage_collection_is_disabled_only_while_a_file_is_read(
    track: str, is_valid: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    enabled: list[bool] = []
    original = Document.expect

    def expect(self: Document, value: object, kind: type, path: str) -> bool:
        enabled.append(gc.isenabled())
        return original(self, value, kind, path)

    monkeypatch.setattr(Document, "expect", expect)
    file = tmp_path / "submission.json"
    file.write_text(EMPTY[track] if is_valid else "7")
    assert bool(check(track, file).total) is not is_valid
    assert (set(enabled), gc.isenabled()) == ({False}, True)
