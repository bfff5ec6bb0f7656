"""Hidden characters in a submission are escaped in the messages of defects and notices."""

import pytest

from evaluator.problems import Notice, Problem

SIGNS = ["\u202e", "\u2066", "\u200b", "\ufeff", "\x1b", "\x00", "\u2028", "\U000e0041", "\ufe0f", "\u3164"]
NAMES = ("message", "column", "image", "file")


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("name", NAMES)
def test_a_hidden_character_in_a_defect_is_escaped(name: str, sign: str) -> None:
    problem = Problem(**{"code": "x", "message": "x", name: f"a{sign}b"})
    assert problem.as_dict()[name] == f"a{sign.encode('unicode_escape').decode()}b"


def test_a_hidden_character_in_a_notice_is_escaped() -> None:
    assert Notice("x", "a\u202eb", 1).message == "a\\u202eb"
