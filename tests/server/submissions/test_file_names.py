"""The name under which a file is shown has no folders and no hidden characters."""

import pytest

from server.submissions.services import intake


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("a\u202egpj.csv", "agpj.csv"),  # The invisible character that reverses the text direction is removed.
        # A variation selector, a filler and a null notehead are invisible and are therefore removed.
        ("a\ufe0f\u3164\U0001d159.csv", "a.csv"),
        ("tab\there\x00.csv", "tabhere.csv"),
        ("", "unnamed"),
        ("..", "unnamed"),
        ("a/\u2025", "unnamed"),
        ("\uff0e\uff0e\uff0fpasswd", "passwd"),
        ("x" * 300 + ".csv", "x" * 251 + ".csv"),
        ("ﬁle.csv", "file.csv"),
    ],
)
def test_the_shown_file_name_has_no_hidden_characters(given, shown):
    assert intake.visible_name(given) == shown
