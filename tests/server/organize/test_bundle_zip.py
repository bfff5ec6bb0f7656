import stat
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from pytest_django import Settings

from evaluator.bundle import InvalidBundle, copying, unpacking
from server.organize.services import bundles
from tests.server.organize.conftest import BundleFolder


def linked(name: str, kind: int = stat.S_IFLNK) -> ZipInfo:
    entry = ZipInfo(name)
    entry.external_attr = (kind | 0o777) << 16
    return entry


def squeezed(name: str) -> ZipInfo:
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    return entry


@pytest.fixture
def spoiled(bundle: BundleFolder, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a zip file with a valid bundle and the given additional zip entries."""

    def build(*entries: tuple[str | ZipInfo, bytes]) -> Path:
        path = Path(bundle.zipped(tmp_path / "bundle.zip"))
        with ZipFile(path, "a") as archive:
            for name, content in entries:
                archive.writestr(name, content)
        return path

    return build


def codes_of(path: Path) -> list[str]:
    with pytest.raises(InvalidBundle) as caught, bundles.opened(path):
        pass
    assert {problem.file for problem in caught.value.problems} == {path.name}
    return [problem.code for problem in caught.value.problems]


@pytest.mark.parametrize("top", ["", "animals/", "./"])
def test_a_zip_file_and_its_folder_give_the_same_bundle(bundle: BundleFolder, tmp_path: Path, top: str) -> None:
    with bundles.opened(bundle.zipped(tmp_path / "bundle.zip", top=top)) as folder:
        assert bundles.read(folder).slug == "animals"


def test_an_unpacked_zip_file_is_removed_afterwards(bundle: BundleFolder, tmp_path: Path) -> None:
    with bundles.opened(bundle.zipped(tmp_path / "bundle.zip")) as folder:
        assert folder.is_dir()
    assert not folder.exists()


def test_clutter_of_other_programs_is_ignored(spoiled: Callable[..., Path]) -> None:
    path = spoiled(("__MACOSX/._challenge.yaml", b"x"), (".DS_Store", b"x"), ("phases/main/.git/config", b"x"))
    with bundles.opened(path) as folder:
        assert not list(folder.rglob("*.DS_Store")) + list(folder.rglob(".*"))


def test_clutter_next_to_a_single_top_folder_is_ignored(bundle: BundleFolder, tmp_path: Path) -> None:
    path = bundle.zipped(tmp_path / "bundle.zip", top="animals/")
    with ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/animals/._challenge.yaml", "x")
    with bundles.opened(path) as folder:
        assert bundles.read(folder).slug == "animals"


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("../outside.csv", "unsafe_path"),
        ("phases/../../outside.csv", "unsafe_path"),
        ("/etc/outside.csv", "unsafe_path"),
        ("phases\\outside.csv", "unsafe_path"),
        ("C:outside.csv", "unsafe_path"),
        ("x" * 201, "unsafe_path"),
        (linked("rules.md"), "unsafe_path"),
        (linked("pipe", stat.S_IFIFO), "unsafe_path"),
        (linked("device", stat.S_IFCHR), "unsafe_path"),
        ("challenge.yaml/inside.csv", "bad_zip"),
    ],
)
def test_a_zip_entry_outside_the_bundle_is_refused(
    spoiled: Callable[..., Path], entry: str | ZipInfo, code: str
) -> None:
    assert codes_of(spoiled((entry, b"../../../etc/passwd"))) == [code]


def test_backslashes_in_the_names_of_all_files_are_one_mistake_that_says_how_to_fix_it(
    bundle: BundleFolder, tmp_path: Path
) -> None:
    path, wrong = bundle.zipped(tmp_path / "bundle.zip"), tmp_path / "wrong.zip"
    with ZipFile(path) as archive, ZipFile(wrong, "w") as copy:
        for entry in archive.infolist():
            copy.writestr(entry.filename.replace("/", "\\"), archive.read(entry))
    with pytest.raises(InvalidBundle) as caught, bundles.opened(wrong):
        pass
    (problem,) = caught.value.problems
    assert (problem.code, problem.file) == ("unsafe_path", "wrong.zip")
    assert r"such as 'phases\main\truth\boxes.csv'" in problem.message


def test_nothing_is_written_outside_the_temporary_folder(spoiled: Callable[..., Path], tmp_path: Path) -> None:
    path = spoiled(("../../outside.csv", b"x"))
    before = set(tmp_path.rglob("*"))
    assert codes_of(path) == ["unsafe_path"]
    assert set(tmp_path.rglob("*")) == before


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["challenge.yaml", "./challenge.yaml"])
def test_a_name_that_occurs_twice_is_refused(spoiled: Callable[..., Path], name: str) -> None:
    assert codes_of(spoiled((name, b"slug: other"))) == ["bad_zip"]


def test_a_zip_bomb_is_refused_because_of_its_compression_ratio(
    spoiled: Callable[..., Path], settings: Settings
) -> None:
    settings.DECOMPRESSED_MAX_RATIO = 10
    assert codes_of(spoiled((squeezed("bomb"), bytes(20 * 2**20)))) == ["too_large"]


def test_a_zip_bomb_is_refused_because_of_its_size(spoiled: Callable[..., Path], settings: Settings) -> None:
    settings.DECOMPRESSED_MAX_BYTES = 1000
    assert codes_of(spoiled((squeezed("bomb"), bytes(2000)))) == ["too_large"]


def test_too_many_files_are_refused(spoiled: Callable[..., Path]) -> None:
    assert codes_of(spoiled(*((f"{n}.txt", b"") for n in range(10_000)))) == ["too_large"]


def test_a_bundle_with_too_many_files_is_refused_with_the_advice_to_keep_less(
    bundle: BundleFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (copying, unpacking):
        monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    for path in (bundle.path, bundle.zipped(tmp_path / "bundle.zip")):
        with pytest.raises(InvalidBundle) as caught, bundles.opened(path):
            pass
        (problem,) = caught.value.problems
        assert problem.code == "too_large"
        assert "the files of the images in split.txt" in problem.message


def test_a_zip_entry_with_a_false_size_is_refused(spoiled: Callable[..., Path]) -> None:
    path = spoiled((squeezed("liar"), bytes(5_000_000)))
    size = (5_000_000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, (10).to_bytes(4, "little")))
    assert codes_of(path) == ["bad_zip"]


def test_an_encrypted_entry_is_refused(spoiled: Callable[..., Path]) -> None:
    path = spoiled((squeezed("secret"), b"x"))
    content = bytearray(path.read_bytes())
    place = content.rfind(b"PK\x01\x02")
    content[place + 8] |= 1
    path.write_bytes(bytes(content))
    assert codes_of(path) == ["bad_zip"]


def test_an_unusual_compression_method_is_refused(spoiled: Callable[..., Path]) -> None:
    entry = ZipInfo("packed")
    entry.compress_type = ZIP_BZIP2
    assert codes_of(spoiled((entry, b"x"))) == ["bad_zip"]


@pytest.mark.parametrize("content", [b"", b"slug: animals", b"PK\x03\x04 and nothing more"])
def test_a_file_that_is_not_a_zip_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bundle.zip"
    path.write_bytes(content)
    assert codes_of(path) == ["bad_zip"]


def test_a_truncated_zip_is_refused(bundle: BundleFolder, tmp_path: Path) -> None:
    path = bundle.zipped(tmp_path / "bundle.zip")
    path.write_bytes(path.read_bytes()[:-30])
    assert codes_of(path) == ["bad_zip"]


def test_damaged_content_is_refused(bundle: BundleFolder, tmp_path: Path) -> None:
    path = bundle.zipped(tmp_path / "bundle.zip")
    path.write_bytes(path.read_bytes().replace(b"slug: animals", b"slug: ANIMALS"))
    assert codes_of(path) == ["bad_zip"]


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    assert codes_of(tmp_path / "nowhere.zip") == ["missing_file"]
