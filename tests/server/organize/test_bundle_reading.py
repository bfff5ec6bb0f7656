from datetime import UTC, datetime

import pytest
from pytest_django import Settings

from evaluator.bundle import InvalidBundle
from server.organize.services import bundles
from tests.server.organize.conftest import BundleFolder

HEAD = "slug: animals\ntitle: Animals\nphases:\n  - slug: main\n    track: openimages-detection\n"


def mistakes_of(bundle: BundleFolder) -> list[tuple[str, str | None, int | None]]:
    with pytest.raises(InvalidBundle) as caught:
        bundles.read(bundle.path)
    return [(problem.code, problem.file, problem.line) for problem in caught.value.problems]


def test_a_minimal_bundle_gets_the_documented_defaults(bundle: BundleFolder) -> None:
    read = bundles.read(bundle.path)
    phase = read.phases[0]
    assert (read.summary, read.description, read.rules, read.data) == ("", "", "", "")
    assert (read.visibility, read.opens_at, read.closes_at, read.join_until) == ("public", None, None, None)
    assert (read.team_max_size, read.merge_until) == (5, None)
    assert (read.registration, read.allowed_domains, read.allowed_people) == ("open", "", "")
    assert (phase.title, phase.public_share, phase.split_seed, phase.finals) == ("Main", 1.0, 0, 2)
    assert (phase.quota_per_day, phase.quota_total, phase.attempts_per_day) == (5, None, 20)
    assert (phase.feedback, phase.feedback_decimals, phase.feedback_classes) == ("exact", None, False)
    assert phase.parameters == phase.declared_track.resolve({})
    assert (phase.baselines, phase.sample, phase.usage) == ((), None, None)


def test_a_parameter_may_require_another_parameter(bundle: BundleFolder) -> None:
    bundle.sheet(phase="    parameters: {classwise: false, protocol: fiftyone}\n")
    assert bundles.read(bundle.path).phases[0].parameters["classwise"] is False


def test_every_documented_key_is_read(bundle: BundleFolder) -> None:
    for page in ("description", "rules", "data"):
        bundle.write(f"{page}.md", f"# {page}")
    bundle.write("phases/main/baselines/center.csv", "ImageId,PredictionString\n")
    bundle.write("phases/main/sample_submission.csv", "ImageId,PredictionString\n")
    bundle.sheet(
        challenge=(
            "summary: One line.\nvisibility: private\nopens_at: 2026-01-01T00:00:00Z\ncloses_at: 2026-06-01\n"
            "join_until: 2026-05-25T02:00:00+02:00\nteams: {max_size: 3, merge_until: 2026-05-01T00:00:00}\n"
            "registration: approval\nallow: [example.org, Uni.Example.EDU, example.org]\n"
            "allow_people: [Ada@Example.org, Bob, bob, 7]\n"
        ),
        phase=(
            "    title: Test\n    parameters: {group_of_weight: 0, expand_hierarchy: false}\n"
            "    split: {public: 0.3, seed: 7}\n    quota: {per_day: 7, total: 200, attempts_per_day: 9}\n"
            "    finals: 1\n    feedback: {scores: rounded, decimals: 5, classes: true}\n"
            "    opens_at: 2026-02-01\n    closes_at: 2026-03-01\n"
            "    baselines: [{name: Center prior, file: baselines/center.csv}]\n"
        ),
    )
    read = bundles.read(bundle.path)
    phase = read.phases[0]
    assert (read.description, read.rules, read.data) == ("# description", "# rules", "# data")
    assert (read.visibility, read.team_max_size) == ("private", 3)
    assert (read.registration, read.allowed_domains) == ("approval", "example.org uni.example.edu")
    assert read.allowed_people == "ada@example.org bob 7"
    assert read.closes_at == datetime(2026, 6, 1, tzinfo=UTC)
    assert [read.join_until, read.merge_until] == [datetime(2026, 5, day, tzinfo=UTC) for day in (25, 1)]
    assert (phase.title, phase.public_share, phase.split_seed, phase.finals) == ("Test", 0.3, 7, 1)
    assert (phase.parameters["group_of_weight"], phase.parameters["expand_hierarchy"]) == (0.0, False)
    assert (phase.quota_per_day, phase.quota_total, phase.attempts_per_day) == (7, 200, 9)
    assert (phase.feedback, phase.feedback_decimals, phase.feedback_classes) == ("rounded", 5, True)
    assert phase.opens_at == datetime(2026, 2, 1, tzinfo=UTC)
    assert [(baseline.name, baseline.file.name) for baseline in phase.baselines] == [("Center prior", "center.csv")]
    assert phase.sample is not None


def test_the_default_number_of_attempts_is_not_below_the_daily_quota(bundle: BundleFolder) -> None:
    bundle.sheet(phase="    quota: {per_day: 50}\n")
    assert bundles.read(bundle.path).phases[0].attempts_per_day == 50


@pytest.mark.parametrize("name", ["usage.csv", "usage.csv.gz"])
def test_usage_next_to_the_truth_folder_is_found(bundle: BundleFolder, name: str) -> None:
    path = bundle.write(f"phases/main/{name}", "ImageID,Usage\na,Public\nb,Private\n")
    assert bundles.read(bundle.path).phases[0].usage == path


def test_a_gzipped_truth_file_replaces_the_plain_one(bundle: BundleFolder) -> None:
    boxes = bundle.path / "phases/main/truth/boxes.csv"
    packed = boxes.rename(f"{boxes}.gz")
    assert bundles.read(bundle.path).phases[0].truth == boxes.parent
    packed.unlink()
    assert mistakes_of(bundle) == [("truth_missing_file", "phases/main/truth/boxes.csv", None)]


def test_a_numeric_title_is_read_as_text(bundle: BundleFolder) -> None:
    bundle.sheet(text=HEAD.replace("title: Animals", "title: 2019"))
    assert bundles.read(bundle.path).title == "2019"


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        ("slog: x", "unknown_key", 3),
        ("title: Again", "duplicate_key", 3),
        ("summary: [a, b]", "bad_value", 3),
        ("summary: !!python/object:os.system x: y", "bad_yaml", 3),
        ("summary: " + "x" * 241, "bad_value", 3),
        ("visibility: hidden", "bad_value", 3),
        ("opens_at: 2026-13-01", "bad_value", 3),
        ("opens_at: soon", "bad_value", 3),
        ("opens_at: 0001-01-01T00:00:00+14:00", "bad_value", 3),
        ("opens_at: 1899-12-31T23:59:59Z", "bad_value", 3),  # Dates before 1900 are rejected.
        ('summary: "\\u3164"', "bad_value", 3),  # The only letter of this summary is invisible.
        ("opens_at: 2026-06-01\ncloses_at: 2026-06-01", "bad_dates", 4),
        ("join_until: [2026-06-01]", "bad_value", 3),
        ("registration: closed", "bad_value", 3),
        ("allow: example.org", "bad_value", 3),
        ("allow: ['@example.org']", "bad_value", 3),
        ("allow: [example]", "bad_value", 3),
        ("allow: [[example.org]]", "bad_value", 3),
        ("allow_people: bob", "bad_value", 3),
        ("allow_people: ['@bob']", "bad_value", 3),
        ("allow_people: [bob@example]", "bad_value", 3),
        ("allow_people: [Bob Smith]", "bad_value", 3),
        ("teams: 5", "bad_value", 3),
        ("teams: {max_size: 0}", "bad_value", 3),
        ("teams: {max_size: 2.5}", "bad_value", 3),
        ("teams:\n  size: 3", "unknown_key", 4),
        ("? [a, b]\n: 1", "unknown_key", 3),
        ("<<: {summary: x}", "unknown_key", 3),
    ],
)
def test_a_mistake_of_the_challenge_is_reported_with_its_line(
    bundle: BundleFolder, lines: str, code: str, line: int
) -> None:
    bundle.sheet(challenge=f"{lines}\n")
    assert mistakes_of(bundle) == [(code, "challenge.yaml", line)]


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        ("quotas: {}", "unknown_key", 6),
        ("title: ''", "bad_value", 6),
        ("parameters: {iou: 0.5}", "bad_parameter", 6),
        ("parameters:\n      iou_threshold: 0.5\n      group_of_weight: 2", "bad_parameter", 8),
        ("parameters: {iou_threshold: half}", "bad_parameter", 6),
        ("parameters: {classwise: false}", "bad_parameter", 6),
        ("parameters: {expand_hierarchy: maybe}", "bad_parameter", 6),
        ("parameters: {protocol: coco}", "bad_parameter", 6),
        ("parameters: {iou_threshold: {a: b}}", "bad_value", 6),
        ("parameters: [iou_threshold]", "bad_value", 6),
        ("split: {public: 1.5}", "bad_value", 6),
        ("split: {public: .nan}", "bad_value", 6),
        ("split: {public: 1_0}", "bad_value", 6),
        ("split: {seed: 0.5}", "bad_value", 6),
        ("split: {seed: 4294967296}", "bad_value", 6),
        ("split: {seed: -1}", "bad_value", 6),
        ("split: {private: 0.5}", "unknown_key", 6),
        ("quota: {per_day: -1}", "bad_value", 6),
        ("quota: {per_day: 0}", "bad_value", 6),
        ("quota: {per_day: many}", "bad_value", 6),
        ("quota: {total: 1e3}", "bad_value", 6),
        ("finals: 0", "bad_value", 6),
        ("feedback: {scores: some}", "bad_value", 6),
        ("feedback: {scores: ladder, classes: true}", "bad_value", 6),
        ("ladder: {standard_errors: 2}", "bad_value", 6),
        ("feedback: {scores: ladder}\n    ladder: {standard_errors: 0}", "bad_value", 7),
        ("feedback: {scores: ladder}\n    ladder: {standard_errors: 11}", "bad_value", 7),
        ("feedback: {scores: ladder}\n    ladder: {standard_errors: 1e-300}", "bad_value", 7),
        ("feedback: {scores: ladder}\n    ladder: {standard_errors: 0.009}", "bad_value", 7),
        ("feedback: {scores: ladder}\n    ladder: {margin: 2}", "unknown_key", 7),
        ("split: {public: 0.0}", "bad_value", 6),
        ("feedback: {scores: rounded}", "missing_key", 6),
        ("feedback: {scores: rounded, decimals: 11}", "bad_value", 6),
        ("feedback: {decimals: 3}", "bad_value", 6),
        ("feedback: {classes: 1}", "bad_value", 6),
        ("opens_at: 2026-06-02\n    closes_at: 2026-06-01", "bad_dates", 7),
        ("closes_at: 2026-06-01\n    opens_at: 2026-06-01", "bad_dates", 6),
        ("baselines: {name: x}", "bad_value", 6),
        ("baselines: [x]", "bad_value", 6),
        ('baselines: [{name: "a\\u202eb", file: truth/boxes.csv}]', "bad_value", 6),
        ("baselines: [{name: x, file: baselines/x.csv}]", "missing_file", 6),
        ("baselines: [{name: x, file: ../../challenge.yaml}]", "unsafe_path", 6),
        ("baselines: [{name: x, file: /etc/hostname}]", "unsafe_path", 6),
        ("baselines:\n      - file: truth/boxes.csv", "missing_key", 7),
        ("baselines:\n      - name: x", "missing_key", 7),
        (
            "baselines:\n      - {name: x, file: truth/boxes.csv}\n      - {name: X, file: truth/boxes.csv}",
            "duplicate_baseline",
            8,
        ),
    ],
)
def test_a_mistake_of_a_phase_is_reported_with_its_line(bundle: BundleFolder, lines: str, code: str, line: int) -> None:
    bundle.sheet(phase=f"    {lines}\n")
    assert mistakes_of(bundle) == [(code, "challenge.yaml", line)]


@pytest.mark.parametrize(("most", "codes"), [(9, [("file_too_large", "challenge.yaml", 6)]), (10, [])])
def test_a_baseline_larger_than_an_upload_is_a_mistake(
    bundle: BundleFolder, settings: Settings, most: int, codes: list[int]
) -> None:
    settings.UPLOAD_MAX_BYTES = most
    bundle.write("phases/main/baselines/x.csv", b"0123456789")
    bundle.sheet(phase="    baselines: [{name: x, file: baselines/x.csv}]\n")
    if codes:
        assert mistakes_of(bundle) == codes
    else:
        bundles.read(bundle.path)


@pytest.mark.parametrize(
    ("sheet", "expected"),
    [
        ("", [("missing_key", 1)]),
        ("# nothing yet\n", [("missing_key", 1)]),
        ("- a\n- b\n", [("bad_value", 1), ("missing_key", 1)]),
        ("slug: animals\n", [("missing_key", 1), ("missing_key", 1)]),
        ("slug: animals\ntitle: ~\nphases: []\n", [("missing_key", 2), ("missing_key", 3)]),
        ("slug: animals\ntitle: Animals\nphases: main\n", [("bad_value", 3), ("missing_key", 3)]),
        ("slug: Animals!\n" + HEAD.split("\n", 1)[1], [("bad_value", 1)]),
        (HEAD.replace("slug: main", "slug: a--b"), [("bad_value", 4)]),
        (HEAD.replace("detection", "detektion"), [("bad_value", 5)]),
        (HEAD.replace("    track: openimages-detection\n", ""), [("missing_key", 4)]),
        (HEAD + "  - slug: main\n    track: openimages-detection\n", [("duplicate_phase", 6)]),
        ("slug: [", [("bad_yaml", 1)]),
        ("slug: a\n\ttitle: b\n", [("bad_yaml", 2)]),
        ("slug: *nobody\n", [("bad_yaml", 1)]),
        ("slug: a\n---\nslug: b\n", [("bad_yaml", 2)]),
        ("slug: \x00", [("bad_yaml", 1)]),
        ("[" * 5000, [("bad_yaml", None)]),
        ("slug: a\n" + "#" * 2**18, [("too_large", None)]),
        (b"slug: a\ntitle: caf\xe9\n", [("encoding", 2)]),
    ],
)
def test_a_broken_challenge_yaml_is_reported_with_its_lines(
    bundle: BundleFolder, sheet: str | bytes, expected: list[tuple[str, int | None]]
) -> None:
    bundle.write("challenge.yaml", sheet)
    assert [(code, line) for code, _, line in mistakes_of(bundle)] == expected


def test_all_mistakes_are_reported_at_once_in_the_order_of_their_lines(bundle: BundleFolder) -> None:
    bundle.write("rules.md", b"\xff")
    (bundle.path / "phases/main/truth/boxes.csv").unlink()
    bundle.sheet(challenge="sumary: x\nvisibility: open\n", phase="    finals: none\n    quta: {}\n")
    assert mistakes_of(bundle) == [
        ("unknown_key", "challenge.yaml", 3),
        ("bad_value", "challenge.yaml", 4),
        ("bad_value", "challenge.yaml", 8),
        ("unknown_key", "challenge.yaml", 9),
        ("truth_missing_file", "phases/main/truth/boxes.csv", None),
        ("encoding", "rules.md", 1),
    ]


def test_an_unknown_key_names_the_nearest_allowed_one(bundle: BundleFolder) -> None:
    bundle.sheet(challenge="visibilty: public\n")
    with pytest.raises(InvalidBundle) as caught:
        bundles.read(bundle.path)
    assert "visibility" in caught.value.problems[0].message


def test_a_missing_challenge_yaml_is_a_mistake(bundle: BundleFolder) -> None:
    (bundle.path / "challenge.yaml").unlink()
    assert mistakes_of(bundle) == [("missing_file", "challenge.yaml", None)]


@pytest.mark.parametrize("missing", ["boxes.csv", "image_labels.csv"])
def test_a_missing_truth_file_is_a_fault_of_the_truth(bundle: BundleFolder, missing: str) -> None:
    (bundle.path / "phases/main/truth" / missing).unlink()
    with pytest.raises(InvalidBundle) as caught:
        bundles.read(bundle.path)
    assert caught.value.is_truth_fault
    assert [problem.file for problem in caught.value.problems] == [f"phases/main/truth/{missing}"]


def test_usage_and_split_exclude_each_other(bundle: BundleFolder) -> None:
    bundle.write("phases/main/usage.csv", "ImageID,Usage\n")
    bundle.sheet(phase="    split: {public: 0.5, seed: 1}\n")
    assert mistakes_of(bundle) == [("split_and_usage", "challenge.yaml", 6)]


def test_two_usage_files_are_a_mistake(bundle: BundleFolder) -> None:
    bundle.write("phases/main/usage.csv", "ImageID,Usage\n")
    bundle.write("phases/main/truth/usage.csv", "ImageID,Usage\n")
    assert mistakes_of(bundle) == [("two_usages", "challenge.yaml", 4)]
