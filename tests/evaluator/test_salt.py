"""A ground truth's secret salt determines the public/private split and the bootstrap draws.

Neither can be computed without the salt.
"""

import gzip
import hmac
import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evaluator.catalog import TRACKS
from evaluator.cli import main
from evaluator.draws import LANES, Draws
from evaluator.files.folder import TruthFolder
from evaluator.metrics.share_intervals import Trials, share_interval
from evaluator.problems import InvalidParameters, InvalidTruth
from evaluator.report import Report
from evaluator.request import Bootstrap, ReportOptions, ScoringRequest, TruthOptions
from evaluator.scoring import prepare, score
from evaluator.synthesis import synthesize
from evaluator.tracks import scorer_of
from evaluator.tracks.compiling import open_truth
from evaluator.truth import PUBLIC, Truth
from tests.evaluator.options import with_intervals

OBJECTNET = "objectnet"
SALT = "00112233445566778899aabbccddeeff"
REPLICATES = 1_000


def names(count: int) -> list[str]:
    return [f"{number:02}.png" for number in range(count)]


def answers(folder: Path, count: int, salt: str = "") -> Path:
    """Write a ground truth with the given number of images, which are all of class 7."""
    folder.mkdir()
    (folder / "answers.json").write_text(json.dumps(dict.fromkeys(names(count), 7)))
    if salt:
        (folder / "salt.txt").write_text(f"{salt}\n")
    return folder


def right(path: Path, images: list[str]) -> Path:
    """Write a submission with correct answers for the given images and no answers for the others."""
    path.write_text("".join(f"{image},7,1,,,,,,,,\n" for image in images))
    return path


@pytest.fixture(params=TRACKS)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path, Path]:
    """Synthesize a challenge. Return the name of its track, its ground truth with a secret salt, and a submission."""
    synthesize(request.param, tmp_path / "made", images=24, qualities=(0.6,))
    truth = tmp_path / "made" / "truth"
    (truth / "salt.txt").write_text(SALT)
    return request.param, truth, next((tmp_path / "made" / "submissions").glob("quality-0.60.*"))


def test_a_folder_its_gzipped_copy_and_its_prepared_file_give_equal_reports(
    made: tuple[str, Path, Path], tmp_path: Path
) -> None:
    track, truth, submission = made
    zipped = tmp_path / "zipped"
    zipped.mkdir()
    for path in truth.iterdir():
        (zipped / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    prepare(track, truth, tmp_path / "t.podium", opening=TruthOptions(split=(0.5, 0)))
    drawn = ReportOptions(bootstrap=Bootstrap(20) if TRACKS[track].intervals else None)
    halves = TruthOptions(split=(0.5, 0))
    requests = [ScoringRequest(track, each, submission, opening=halves, report=drawn) for each in (truth, zipped)]
    requests.append(ScoringRequest(track, tmp_path / "t.podium", submission, report=drawn))
    reports = [score(request) for request in requests]
    assert "private" in reports[0].splits
    assert reports[0].as_dict() == reports[1].as_dict() == reports[2].as_dict()


def test_the_split_depends_on_the_salt_and_not_on_the_seed(made: tuple[str, Path, Path], tmp_path: Path) -> None:
    track, folder, _ = made
    truths = [
        open_truth(scorer_of(track), folder, TRACKS[track].resolve({}), TruthOptions(split=(0.4, seed)))
        for seed in (0, 7)
    ]
    for truth in truths:
        fractions = {
            image: int.from_bytes(hmac.digest(bytes.fromhex(SALT), image.encode(), sha256)[:8], "big") / 2**64
            for image in truth.texts["images"]
        }
        assert (truth.arrays["usage"] == PUBLIC).tolist() == [fraction < 0.4 for fraction in fractions.values()]
    assert truths[0].sha256 == truths[1].sha256


def test_the_sha256_of_a_truth_includes_its_salt(tmp_path: Path) -> None:
    folder = answers(tmp_path / "truth", 3, SALT)
    lines = [f"{path.name} {sha256(path.read_bytes()).hexdigest()}\n" for path in sorted(folder.iterdir())]
    assert TruthFolder(folder, TRACKS[OBJECTNET]).sha256 == sha256("".join(lines).encode()).hexdigest()


def test_a_replicate_of_a_salted_truth_is_seeded_by_an_hmac() -> None:
    message = f"\0replicate:2:5:{LANES + 3}".encode()
    entropy = int.from_bytes(hmac.digest(bytes.fromhex(SALT), message, sha256), "big")
    drawn = np.random.PCG64(np.random.SeedSequence(entropy)).random_raw(50) >> np.uint64(32)
    weights = np.bincount((drawn * np.uint64(50) >> np.uint64(32)).astype(np.int64), minlength=50)
    draws = Draws("ab" * 32, 2, 5, 50, REPLICATES, bytes.fromhex(SALT))
    assert draws.block(1)[:, 3].tolist() == weights.tolist()


@pytest.mark.parametrize("text", [f"{SALT}\n", f"{SALT}\r\n", SALT.upper()])
def test_one_line_of_32_hexadecimal_digits_is_a_salt(tmp_path: Path, text: str) -> None:
    folder = answers(tmp_path / "truth", 3)
    (folder / "salt.txt").write_bytes(text.encode())
    assert TruthFolder(folder, TRACKS[OBJECTNET]).salt == bytes.fromhex(SALT)


@pytest.mark.parametrize(
    "text", ["", "\n", SALT[:-1], f"{SALT}0", f" {SALT}", f"{SALT}\n\n", f"{SALT}\n{SALT}", "é" * 32]
)
def test_a_malformed_salt_is_a_fault_of_the_truth(tmp_path: Path, text: str) -> None:
    folder = answers(tmp_path / "truth", 3)
    (folder / "salt.txt").write_text(text)
    with pytest.raises(InvalidTruth) as caught:
        prepare(OBJECTNET, folder, tmp_path / "t.podium")
    (problem,) = caught.value.problems
    assert (problem.code, problem.file, problem.line) == ("truth_bad_value", "salt.txt", 1)
    assert "32 hexadecimal digits" in problem.message


def test_a_salt_given_separately_has_the_effect_of_one_in_the_folder(tmp_path: Path) -> None:
    bare, salted = answers(tmp_path / "bare", 9), answers(tmp_path / "salted", 9, SALT)
    (tmp_path / "s.txt").write_text(f"{SALT}\n")
    words = ["prepare", OBJECTNET, "--split", "0.5", "--json", str(tmp_path / "made.json"), "--truth"]
    assert main([*words, str(bare), "--out", str(tmp_path / "one"), "--salt", str(tmp_path / "s.txt")]) == 0
    assert main([*words, str(salted), "--out", str(tmp_path / "other")]) == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    with pytest.raises(InvalidParameters):
        prepare(OBJECTNET, tmp_path / "one", tmp_path / "again", opening=TruthOptions(salt=tmp_path / "s.txt"))


def test_a_usage_file_and_a_salt_given_separately_may_be_gzipped(tmp_path: Path) -> None:
    folder = answers(tmp_path / "truth", 4)
    usage, salt = tmp_path / "usage.csv", tmp_path / "salt.txt"
    usage.write_text("ImageID,Usage\n" + "".join(f"{name},Public\n" for name in names(4)))
    salt.write_text(SALT)
    prepare(OBJECTNET, folder, tmp_path / "plain", opening=TruthOptions(usage=usage, salt=salt))
    for path in (usage, salt):
        path.write_bytes(gzip.compress(path.read_bytes()))
    prepare(OBJECTNET, folder, tmp_path / "zipped", opening=TruthOptions(usage=usage, salt=salt))
    assert (tmp_path / "zipped").read_bytes() == (tmp_path / "plain").read_bytes()
    usage.write_bytes(usage.read_bytes()[:-9])
    with pytest.raises(InvalidTruth, match="the gzip file is damaged"):
        prepare(OBJECTNET, folder, tmp_path / "zipped", opening=TruthOptions(usage=usage))


def test_a_salt_is_not_in_the_repr_of_a_truth_or_its_draws(tmp_path: Path) -> None:
    prepare(OBJECTNET, answers(tmp_path / "truth", 9, SALT), tmp_path / "t.podium")
    truth = Truth.load(tmp_path / "t.podium")
    draws = Draws(truth.sha256, 0, 0, 9, REPLICATES, truth.salt)
    assert truth.salt == bytes.fromhex(SALT)
    for told in (repr(truth), repr(draws), draws.file_name):
        assert not any(written in told for written in (SALT, str(truth.salt), truth.salt.decode("latin-1")))


def test_stored_draws_have_a_name_for_each_salt_and_are_private(tmp_path: Path) -> None:
    for number, salt in enumerate((SALT, SALT[::-1])):
        truth = answers(tmp_path / f"truth{number}", 9, salt)
        score(
            ScoringRequest(
                OBJECTNET, truth, right(tmp_path / "s", names(4)), report=with_intervals(64, draws=tmp_path / "draws")
            )
        )
    kept = list((tmp_path / "draws").iterdir())
    assert len({path.name for path in kept}) == len({path.read_bytes() for path in kept}) == 2
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


# The attacker in the following tests has the code of the evaluator, the scores and intervals of the attacker's own
# submissions, and everything that is published about a ground truth.

IMAGES, HITS = 12, 5


def candidates(report: Report, published: str) -> list[tuple[int, ...]]:
    """Return all sets of images that, as far as an attacker can tell, may be the images with correct answers.

    The attacker has only the published data, and derives bootstrap draws from the published SHA-256 hash of the ground
    truth. For each set, the attacker computes the interval that these draws give if exactly the answers for this set
    are correct. The set is returned if this interval is the reported one.
    """
    draws = Draws(published, 0, 0, IMAGES, REPLICATES)
    weights = np.concatenate([draws.block(number) for number in range(draws.blocks)], axis=1)[:, :REPLICATES]
    observed = report.splits["all"].metrics["top1"]
    assert observed == HITS / IMAGES
    sets = list(combinations(range(IMAGES), HITS))
    assert len(sets) == 792
    found: list[tuple[int, ...]] = []
    for each in sets:
        replicates: NDArray[np.float64] = weights[list(each)].sum(axis=0, dtype=float) / IMAGES
        interval = share_interval(replicates, observed, Trials(IMAGES, IMAGES), plain=True)
        if np.allclose(interval or (), report.splits["all"].intervals["top1"], rtol=0, atol=1e-12):
            found.append(each)
    return found


def attacked(tmp_path: Path, salts: list[str]) -> Iterator[tuple[bool, int]]:
    """For each salt, yield whether the correct answers are among the attacker's candidates, and how many there are."""
    chance = np.random.default_rng(5)
    for number, salt in enumerate(salts):
        hits = tuple(sorted(chance.choice(IMAGES, HITS, replace=False).tolist()))
        truth = answers(tmp_path / f"truth{number}", IMAGES, salt)
        submission = right(tmp_path / "submission", [names(IMAGES)[hit] for hit in hits])
        report = score(ScoringRequest(OBJECTNET, truth, submission, report=with_intervals(REPLICATES)))
        published = TruthFolder(truth, TRACKS[OBJECTNET]).sha256
        found = candidates(report, published)
        yield hits in found, len(found)


def test_an_interval_reveals_the_answers_of_an_unsalted_truth(tmp_path: Path) -> None:
    for is_found, count in attacked(tmp_path, [""] * 3):
        assert is_found
        assert 1 <= count <= 7


def test_an_interval_of_a_salted_truth_reveals_nothing_about_the_answers(tmp_path: Path) -> None:
    """The attacker computes wrong draws, so the correct answers fit the interval no better than other answers."""
    told = list(attacked(tmp_path, [f"{number:032x}" for number in range(1, 11)]))
    assert sum(is_found for is_found, _ in told) == 0


def possible_split_seeds(truth: Path, tmp_path: Path) -> list[int]:
    """Return the seeds of the public/private split that an attacker without the secret salt cannot exclude.

    The attacker has submitted three files and can tell which of their answers are correct. A seed is possible if the
    unsalted split with this seed results in the three public scores.
    """
    images, share, chance = names(60), 0.3, np.random.default_rng(1)
    files = [sorted(chance.choice(60, 15, replace=False).tolist()) for _ in range(3)]
    told = [
        score(
            ScoringRequest(
                OBJECTNET,
                truth,
                right(tmp_path / "s", [images[one] for one in file]),
                opening=TruthOptions(split=(share, 137)),
            )
        )
        .splits["public"]
        .metrics["top1"]
        for file in files
    ]
    agreeing = []
    for seed in range(1_000):
        digests = (sha256(f"{seed}:{image}".encode()).digest() for image in images)
        public = np.array([int.from_bytes(digest[:8], "big") / 2**64 < share for digest in digests])
        if [public[file].sum() / max(public.sum(), 1) for file in files] == told:
            agreeing.append(seed)
    return agreeing


def test_three_scores_reveal_the_split_of_an_unsalted_truth(tmp_path: Path) -> None:
    assert possible_split_seeds(answers(tmp_path / "truth", 60), tmp_path) == [137]


def test_three_scores_do_not_reveal_the_split_of_a_salted_truth(tmp_path: Path) -> None:
    assert possible_split_seeds(answers(tmp_path / "truth", 60, SALT), tmp_path) == []


def test_the_published_sha256_of_a_salted_truth_confirms_no_guess(tmp_path: Path) -> None:
    published = TruthFolder(answers(tmp_path / "truth", 3, SALT), TRACKS[OBJECTNET]).sha256
    guess = answers(tmp_path / "guess", 3)
    assert TruthFolder(guess, TRACKS[OBJECTNET]).sha256 != published
    # With the salt, the published sha256 can be computed from the annotations.
    (guess / "salt.txt").write_text(f"{SALT}\n")
    assert TruthFolder(guess, TRACKS[OBJECTNET]).sha256 == published
