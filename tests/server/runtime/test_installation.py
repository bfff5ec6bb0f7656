"""The secret keys of an installation are created once, are never replaced, and are rejected if they are too weak."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from server.runtime.installation import key_in


def test_a_key_is_created_only_once(tmp_path: Path) -> None:
    key = key_in(tmp_path / "audit_key", used_for=tmp_path / "audit_head")
    assert len(key) > 40
    (tmp_path / "audit_head").touch()
    assert key_in(tmp_path / "audit_key", used_for=tmp_path / "audit_head") == key


@pytest.mark.parametrize("content", [b"", b"\n", b" " * 64, b"short", b"\xff" * 5])
def test_a_key_that_is_empty_or_cut_off_is_refused_and_kept(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "audit_key"
    path.write_bytes(content)
    with pytest.raises(ImproperlyConfigured, match="audit_key is damaged") as refused:
        key_in(path)
    assert "short" not in str(refused.value)
    assert path.read_bytes() == content


def test_a_lost_key_is_not_replaced_while_entries_need_it(tmp_path: Path) -> None:
    (tmp_path / "audit_head").touch()
    with pytest.raises(ImproperlyConfigured, match="audit_key is missing"):
        key_in(tmp_path / "audit_key", used_for=tmp_path / "audit_head")
    assert not (tmp_path / "audit_key").exists()
