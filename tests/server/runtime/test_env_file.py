"""A .env file that cannot be read completely is refused, and `doctor` lists the lines that have no effect."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from server.runtime import doctor
from server.runtime.env_file import names_in, read_env_file, values_in
from server.runtime.environment import BASE_DIR


def test_a_missing_file_sets_nothing(tmp_path: Path) -> None:
    assert names_in(tmp_path / ".env") == []


def test_comments_and_empty_lines_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PODIUM_TEST_A", raising=False)
    monkeypatch.setenv("PODIUM_TEST_B", "kept")
    path = tmp_path / ".env"
    path.write_text("# a comment\n\nPODIUM_TEST_A=1\nexport PODIUM_TEST_B=2\n")
    assert names_in(path) == ["PODIUM_TEST_A", "PODIUM_TEST_B"]
    read_env_file(path)
    assert (os.environ["PODIUM_TEST_A"], os.environ["PODIUM_TEST_B"]) == ("1", "kept")


@pytest.mark.parametrize("line", ["REDIS_URL redis://:hunter2@host", "hunter2", "=hunter2", "A-B=hunter2", "[hunter2]"])
def test_another_line_is_refused_by_its_number_without_its_content(line: str, tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(f"# fine\n{line}\n")
    with pytest.raises(ImproperlyConfigured, match="line 2") as refusal:
        read_env_file(path)
    assert "hunter2" not in str(refusal.value)


@pytest.mark.parametrize("line", ["TOKEN = hunter2", "TOKEN =hunter2", "TOKEN= hunter2", "export TOKEN\t=hunter2"])
def test_spaces_around_the_equals_sign_are_refused_without_the_value(
    line: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / ".env"
    path.write_text(f"# fine\n{line}\n")
    with pytest.raises(ImproperlyConfigured, match=r"line 2: remove the spaces .* TOKEN") as refusal:
        read_env_file(path)
    assert "hunter2" not in "".join((str(refusal.value), caplog.text, *capsys.readouterr()))


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=key", "key"),
        ("A=key  ", "key"),
        ("  A=key\t", "key"),
        ("A='key '", "key "),
        ('A="a \\"b\\" c"', 'a "b" c'),
        ("A=a\\bc", "a\\bc"),
        ("A=a#b # c", "a#b # c"),
        ("A=x=y", "x=y"),
        ("A=", ""),
        ("A=  ", ""),
        ("A='", "'"),
    ],
)
def test_a_value_is_the_rest_of_its_line_without_outer_spaces_and_quotes(line: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(f"{line}\n")
    assert values_in(path) == {"A": value}


def test_a_file_that_this_user_cannot_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.mkdir()
    with pytest.raises(ImproperlyConfigured, match="cannot be read"):
        read_env_file(path)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_bytes(b"A=\xff\n")
    with pytest.raises(ImproperlyConfigured, match="UTF-8"):
        read_env_file(path)


@pytest.mark.parametrize("words", [("up", "--only", "worker"), ("check",)])
def test_a_command_explains_a_faulty_file_in_one_line(words: tuple[str, ...], tmp_path: Path) -> None:
    """The file is next to manage.py, so the command runs in a copy of the code."""
    shutil.copy(BASE_DIR / "manage.py", tmp_path)
    left_out = shutil.ignore_patterns("static", "templates", "migrations", "__pycache__")
    shutil.copytree(BASE_DIR / "server", tmp_path / "server", ignore=left_out)
    (tmp_path / ".env").write_text("EMAIL_HOST hunter2\n")
    told = {name: value for name, value in os.environ.items() if name not in ("DJANGO_SETTINGS_MODULE", "PYTHONPATH")}
    done = subprocess.run(
        [sys.executable, "manage.py", *words], cwd=tmp_path, env=told, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr.splitlines()) == (
        64,
        [f"{tmp_path / '.env'}, line 1: expected NAME=VALUE, or a comment that starts with #."],
    )


def test_the_doctor_names_settings_that_do_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    settings.SECRET_KEY_FALLBACKS = []
    path = tmp_path / ".env"
    path.write_text("REDIS_ULR=redis://host\nSITE=example.org\nREDIS_URL=redis://host\nXYZ=1\n")
    monkeypatch.setattr(doctor, "ENV_FILE", path)
    sentences = [one.sentence for one in doctor.check_env_file()]
    assert len(sentences) == 2
    assert "REDIS_ULR" in sentences[0]
    assert "REDIS_URL?" in sentences[0]
    assert "XYZ" in sentences[1]


def test_the_doctor_reminds_of_a_secret_key_that_is_being_changed(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path
) -> None:
    monkeypatch.setattr(doctor, "ENV_FILE", tmp_path / ".env")
    settings.SECRET_KEY_FALLBACKS = ["x" * 40]
    advice = "Run `manage.py rotate_secret_key` if you have not done so"
    assert [advice in one.sentence for one in doctor.check_env_file()] == [True]
