"""Test cases for bundles and ground truths with plausible errors.

Each case changes the bundle of the fixture `bundle`, a challenge with one object detection phase, and states what the
check must report, and where.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.server.organize.conftest import BOXES, LABELS, SHEET, BundleFolder

YAML = "challenge.yaml"
MAIN = "phases/main/"
TRUTH = "phases/main/truth/"
Place = tuple[str, str | None, int | None, str | None]


@dataclass(frozen=True)
class Broken:
    """A bundle with an error, and the expected report.

    In challenge.yaml, the first text in `sheet` is replaced with the second. Then, the lines in `lines` are added to
    the challenge, and those in `phase` to its only phase. `files` maps the paths of other files to their contents. A
    file whose content is None is removed. `found` has the code, file, line, and key or column of the expected problem.
    If `warns` is true, the problem is a warning.
    """

    name: str
    found: Place
    lines: str = ""
    phase: str = ""
    sheet: tuple[str, str] = ("", "")
    files: Mapping[str, str | bytes | None] = field(default_factory=dict)
    warns: bool = False

    def apply(self, bundle: BundleFolder) -> None:
        text = SHEET.replace(*self.sheet) if self.sheet[0] else SHEET
        bundle.sheet(challenge=self.lines, phase=self.phase, text=text)
        for name, content in self.files.items():
            if content is None:
                (bundle.path / name).unlink(missing_ok=True)
            else:
                bundle.write(name, content)


def challenge(name: str, lines: str, code: str, key: str | None, line: int = 3, *, warns: bool = False) -> Broken:
    return Broken(name, (code, YAML, line, key), lines=f"{lines}\n", warns=warns)


def phase(name: str, lines: str, code: str, key: str, line: int = 6, *, warns: bool = False) -> Broken:
    return Broken(name, (code, YAML, line, f"phases[0]{key}"), phase=f"    {lines}\n", warns=warns)


def sheet(name: str, old: str, new: str, code: str, line: int | None, key: str | None) -> Broken:
    return Broken(name, (code, YAML, line, key), sheet=(old, new))


def boxes(name: str, row: str, code: str, column: str | None, line: int = 4, *, warns: bool = False) -> Broken:
    content = {f"{TRUTH}boxes.csv": f"{BOXES}{row}\n"}
    return Broken(name, (code, f"{TRUTH}boxes.csv", line, column), files=content, warns=warns)


def labels(name: str, row: str, code: str, column: str, line: int = 4, *, warns: bool = False) -> Broken:
    content = {f"{TRUTH}image_labels.csv": f"{LABELS}{row}\n"}
    return Broken(name, (code, f"{TRUTH}image_labels.csv", line, column), files=content, warns=warns)


def usage(name: str, rows: str, code: str, column: str | None, line: int | None) -> Broken:
    return Broken(name, (code, f"{MAIN}usage.csv", line, column), files={f"{MAIN}usage.csv": f"ImageID,Usage\n{rows}"})


def file(
    name: str, path: str, content: str | bytes | None, code: str, line: int | None = None, column: str | None = None,
    *, warns: bool = False,
) -> Broken:  # fmt: skip
    return Broken(name, (code, path, line, column), files={path: content}, warns=warns)


def tree(*subcategories: object) -> str:
    return json.dumps({"LabelName": "root", "Subcategory": list(subcategories)})


CAT, DOG = {"LabelName": "/m/cat"}, {"LabelName": "/m/dog"}
SHEETS = (
    challenge("misspelled key", "titel: Animals", "unknown_key", "titel"),
    challenge("key twice", "title: Again", "duplicate_key", "title"),
    challenge("list for a text", "summary: [a, b]", "bad_value", "summary"),
    challenge("long summary", f"summary: {'x' * 241}", "bad_value", "summary"),
    challenge("misspelled visibility", "visibility: publik", "bad_value", "visibility"),
    challenge("word for a date", "opens_at: soon", "bad_value", "opens_at"),
    challenge("month 13", "closes_at: 2026-13-01", "bad_value", "closes_at"),
    challenge(
        "ends before it begins",
        "opens_at: 2099-02-01T00:00:00Z\ncloses_at: 2099-01-01T00:00:00Z",
        "bad_dates",
        "closes_at",
        4,
    ),
    challenge("unknown registration", "registration: closed", "bad_value", "registration"),
    challenge("domain as text", "allow: example.org", "bad_value", "allow"),
    challenge("domain with @", "allow: ['@example.org']", "bad_value", "allow"),
    challenge("empty teams", "teams: {max_size: 0}", "bad_value", "teams.max_size"),
    challenge("misspelled team key", "teams: {size: 5}", "unknown_key", "teams.size"),
    challenge("long contact", f"contact: {'x' * 201}", "bad_value", "contact"),
    challenge("date without zone", "closes_at: 2099-01-01T00:00:00", "no_time_zone", "closes_at", warns=True),
    challenge(
        "end in the past",
        "opens_at: 2001-01-01T00:00:00Z\ncloses_at: 2002-01-01T00:00:00Z",
        "date_in_past",
        "closes_at",
        4,
        warns=True,
    ),
    challenge("registration in the past", "join_until: 2002-01-01T00:00:00Z", "date_in_past", "join_until", warns=True),
    Broken("no contact", ("no_contact", YAML, None, "contact"), warns=True),
    sheet("no title", "title: Animals\n", "", "missing_key", 1, "title"),
    sheet("no slug", "slug: animals\n", "", "missing_key", 1, "slug"),
    sheet("slug with capitals", "slug: animals", "slug: Animals!", "bad_value", 1, "slug"),
    sheet("no phases", "phases:\n  - slug: main\n    track: openimages-detection\n", "", "missing_key", 1, "phases"),
    sheet(
        "empty phases",
        "phases:\n  - slug: main\n    track: openimages-detection\n",
        "phases: []\n",
        "missing_key",
        3,
        "phases",
    ),
    sheet("mapping for a list", "  - slug: main\n    track:", "  slug: main\n  track:", "bad_value", 3, "phases"),
    sheet("no track", "    track: openimages-detection\n", "", "missing_key", 4, "phases[0].track"),
    sheet("misspelled track", "detection\n", "detektion\n", "bad_value", 5, "phases[0].track"),
    sheet(
        "two equal phases",
        "phases:\n",
        "phases:\n  - {slug: main, track: openimages-detection}\n",
        "duplicate_phase",
        5,
        "phases[1].slug",
    ),
    sheet("tab in YAML", "title: Animals", "title:\n\tAnimals", "bad_yaml", 3, None),
    sheet("open quote", "title: Animals", 'title: "Animals', "bad_yaml", 2, None),
    sheet("object tag", "title: Animals", "title: !!python/object:os.system {}", "bad_value", 2, "title"),
)
PHASES = (
    phase("misspelled phase key", "quotas: {}", "unknown_key", ".quotas"),
    phase("misspelled parameter", "parameters: {iou_treshold: 0.5}", "bad_parameter", ".parameters.iou_treshold"),
    phase("parameter too large", "parameters: {iou_threshold: 7}", "bad_parameter", ".parameters.iou_threshold"),
    phase("parameter of another track", "parameters: {top_k: 5}", "bad_parameter", ".parameters.top_k"),
    phase("no public image", "split: {public: 0}", "bad_value", ".split.public"),
    phase("share above one", "split: {public: 1.5}", "bad_value", ".split.public"),
    phase("percent", "split: {public: 30%}", "bad_value", ".split.public"),
    phase("idle seed", "split: {public: 1, seed: 7}", "idle_seed", "", 4, warns=True),
    phase("no submission a day", "quota: {per_day: 0}", "bad_value", ".quota.per_day"),
    phase("misspelled quota", "quota: {daily: 5}", "unknown_key", ".quota.daily"),
    phase("total below a day", "quota: {per_day: 5, total: 3}", "contradicting_quota", ".quota", 4, warns=True),
    phase("attempts below quota", "quota: {per_day: 5, attempts_per_day: 3}", "contradicting_quota", ".quota", 4,
          warns=True),
    phase("no finals", "finals: 0", "bad_value", ".finals"),
    phase("fraction for a number", "finals: 2.5", "bad_value", ".finals"),
    phase("unknown feedback", "feedback: {scores: all}", "bad_value", ".feedback.scores"),
    phase("rounded without decimals", "feedback: {scores: rounded}", "missing_key", ".feedback.scores"),
    phase("decimals without rounded", "feedback: {decimals: 3}", "bad_value", ".feedback.decimals"),
    phase("ladder with classes", "feedback: {scores: ladder, classes: true}", "bad_value", ".feedback.classes"),
    phase("ladder settings without ladder", "ladder: {standard_errors: 2}", "bad_value", ".ladder"),
    phase("unknown reveal", "reveal: later", "bad_value", ".reveal"),
    phase("phase closes first", "opens_at: 2099-02-01T00:00:00Z\n    closes_at: 2099-01-01T00:00:00Z", "bad_dates",
          ".closes_at", 7),
    phase("baseline without name", "baselines: [{file: b.csv}]", "missing_key", ".baselines[0].name"),
    phase("baseline without file", "baselines: [{name: B, file: b.csv}]", "missing_file", ".baselines[0].file"),
    phase("baseline outside", "baselines: [{name: B, file: ../b.csv}]", "unsafe_path", ".baselines[0].file"),
)  # fmt: skip
TRUTHS = (
    boxes("inverted box", "a,/m/cat,0.5,0.1,0.1,0.5,0", "truth_inverted_box", "XMin"),
    boxes("comma as decimal point", 'a,/m/cat,"0,5",0.9,0.1,0.5,0', "truth_bad_value", "XMin"),
    boxes("word for a number", "a,/m/cat,0.1,much,0.1,0.5,0", "truth_bad_value", "XMax"),
    boxes("empty label", "a,,0.1,0.5,0.1,0.5,0", "truth_bad_value", "LabelName"),
    boxes("too many cells", "a,/m/cat,0.1,0.5,0.1,0.5,0,0", "truth_bad_value", None),
    boxes("not a number", "a,/m/cat,nan,0.5,0.1,0.5,0", "truth_bad_value", "XMin"),
    boxes("pixels", "a,/m/cat,10,200,0.1,0.5,0", "truth_outside_image", "XMin", warns=True),
    boxes("negative coordinate", "a,/m/cat,-0.1,0.5,0.1,0.5,0", "truth_outside_image", "XMin", warns=True),
    boxes("box twice", "a,/m/cat,0.1,0.5,0.1,0.5,0", "truth_duplicate", "ImageID", warns=True),
    boxes("box without area", "a,/m/cat,0.1,0.1,0.1,0.5,0", "truth_empty_box", "XMin", warns=True),
    labels("object denied by its label", "a,/m/cat,0\nb,/m/cat,0", "truth_contradiction", "LabelName", 2, warns=True),
    labels("half verified", "a,/m/dog,0.5", "truth_confidence", "Confidence", warns=True),
    labels("confidence as word", "a,/m/dog,yes", "truth_bad_value", "Confidence"),
    file("no boxes", f"{TRUTH}boxes.csv", None, "truth_missing_file"),
    file("no labels", f"{TRUTH}image_labels.csv", None, "truth_missing_file"),
    file("wrong header", f"{TRUTH}boxes.csv", BOXES.replace("XMin", "Left"), "truth_bad_header", 1, "XMin"),
    file("empty file", f"{TRUTH}boxes.csv", "", "truth_bad_header"),
    Broken("image that is not listed", ("truth_bad_value", f"{TRUTH}boxes.csv", 3, "ImageID"),
           files={f"{TRUTH}images.csv": "ImageID\na\n"}),
    usage("image without usage", "a,Public\n", "truth_usage_incomplete", "ImageID", None),
    usage("unknown usage", "a,Public\nb,Secret\n", "truth_bad_value", "Usage", 3),
    usage("image with two usages", "a,Public\nb,Private\na,Private\n", "truth_bad_value", "ImageID", 2),
    usage("all private", "a,Private\nb,Private\n", "truth_bad_value", None, None),
    Broken("label not in classes", ("truth_unknown_label", f"{TRUTH}boxes.csv", 3, "LabelName"),
           files={f"{TRUTH}classes.csv": "/m/cat,Cat\n"}),
    file("class without objects", f"{TRUTH}classes.csv", "/m/cat,Cat\n/m/dog,Dog\n/m/eel,Eel\n",
         "truth_class_without_objects", warns=True),
    file("cycle", f"{TRUTH}hierarchy.json", tree(CAT | {"Subcategory": [DOG | {"Subcategory": [CAT]}]}),
         "truth_hierarchy_cycle", column="$.Subcategory[0].Subcategory[0].Subcategory[0]"),
    Broken("label not in hierarchy", ("truth_not_in_hierarchy", f"{TRUTH}boxes.csv", 3, "LabelName"),
           files={f"{TRUTH}hierarchy.json": tree(CAT)}),
    file("broken hierarchy", f"{TRUTH}hierarchy.json", "{", "truth_bad_value", 1),
    file("bad salt", f"{TRUTH}salt.txt", "secret\n", "truth_bad_value", 1),
    file("unread text", "descripton.md", "x", "unread_file", warns=True),
    file("unread truth file", f"{TRUTH}boxs.csv", "x", "unread_file", warns=True),
    Broken("unread phase", ("unread_file", "phases/mian", None, None), warns=True,
           files={"phases/mian/usage.csv": "x"}),
    file("sample with a broken row", f"{MAIN}sample_submission.csv", "ImageId,PredictionString\na,/m/cat high\n",
         "bad_tokens", 2, "PredictionString"),
    Broken("sample of unknown images", ("sample_rejected", f"{MAIN}sample_submission.csv", 2, "ImageId"), warns=True,
           files={f"{MAIN}sample_submission.csv": "ImageId,PredictionString\nz,\n",
                  f"{TRUTH}images.csv": "ImageID\na\nb\n"}),
)  # fmt: skip
BROKEN = SHEETS + PHASES + TRUTHS
