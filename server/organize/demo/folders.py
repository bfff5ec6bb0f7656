"""Writes the demo's bundles and submission files to disk.

A bundle that already exists is kept, because it and its submission files are always complete.
"""

import json
import re
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from string import Template
from typing import Any

from django.conf import settings

from evaluator import salt
from server.organize.demo.story import STARTER_QUALITY, Story
from server.organize.podium import run_podium

TEXTS = Path(__file__).parent / "texts"
OPENED_DAYS_AGO, MERGE_DAYS, JOIN_DAYS, CLOSE_DAYS = 14, 28, 35, 42


def demo_folder() -> Path:
    return Path(settings.PODIUM_HOME) / "demo"


def bundle_folder(story: Story) -> Path:
    return demo_folder() / story.slug


def submission_file(story: Story, quality: float) -> Path:
    return submissions_folder(story) / f"quality-{quality:.2f}.csv"


def broken_file(story: Story) -> Path:
    return submissions_folder(story) / "first-try.csv"


def submissions_folder(story: Story) -> Path:
    return demo_folder() / f"{story.slug}-submissions"


def make(story: Story) -> None:
    """Synthesize the ground truth and the submissions, and write challenge.yaml and its text files.

    The bundle is renamed to its final name only when it is complete.
    """
    if bundle_folder(story).exists():
        return
    workspace = demo_folder() / ".unfinished"
    for leftover in (workspace, submissions_folder(story)):
        shutil.rmtree(leftover, ignore_errors=True)
    workspace.mkdir(parents=True)
    unfinished = workspace / story.slug
    qualities = [word for quality in story.qualities for word in ("--quality", str(quality))]
    size = ("--images", str(story.images), "--seed", str(story.seed))
    run_podium("synthesize", story.track, "--out", str(unfinished), *size, *qualities)
    bundle = unfinished / "bundle"
    (bundle / "phases").mkdir(parents=True)
    shutil.copytree(unfinished / "truth", bundle / "phases" / "main" / "truth")
    (bundle / "phases" / "main" / "truth" / salt.NAME).write_text(fixed_salt(story))
    write_texts(story, bundle)
    starter = bundle / "phases" / "main" / "baselines" / "starter.csv"
    starter.parent.mkdir()
    shutil.copy(unfinished / "submissions" / f"quality-{STARTER_QUALITY:.2f}.csv", starter)
    (unfinished / "submissions").rename(submissions_folder(story))
    spoil(submission_file(story, STARTER_QUALITY), broken_file(story))
    bundle.rename(bundle_folder(story))
    shutil.rmtree(workspace)


def fixed_salt(story: Story) -> str:
    """Return constant content for `salt.txt`, so that every run of the demo has the same split and the same ranks.

    The salt of a real phase must be random. Nothing in the demo is secret, because its ground truth is synthesized from
    a known seed.
    """
    return sha256(story.slug.encode()).hexdigest()[:32] + "\n"


def write_texts(story: Story, bundle: Path) -> None:
    truth = bundle / "phases" / "main" / "truth"
    words = {**dates(datetime.now(UTC)), "classes": classes(truth), "relations": relations(truth)}
    for text in (TEXTS / story.name).iterdir():
        (bundle / text.name).write_text(Template(text.read_text()).substitute(words))


def dates(now: datetime) -> dict[str, str]:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    days = {
        "opens_at": -OPENED_DAYS_AGO,
        "merge_until": MERGE_DAYS,
        "join_until": JOIN_DAYS,
        "closes_at": CLOSE_DAYS,
    }
    return {name: f"{midnight + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}" for name, number in days.items()}


def classes(truth: Path) -> str:
    """Return the class list in Markdown, as a tree if the ground truth has a hierarchy."""
    names = names_by_label(truth / "classes.csv")
    hierarchy = truth / "hierarchy.json"
    if not hierarchy.exists():
        return "\n".join(f"* {name} `{label}`" for label, name in names.items())
    return "\n".join(branches(json.loads(hierarchy.read_text()), names, depth=0))


def branches(node: Mapping[str, Any], names: Mapping[str, str], *, depth: int) -> list[str]:
    lines = []
    for child in node.get("Subcategory", ()):
        lines.append(f"{'  ' * depth}* {names[child['LabelName']]} `{child['LabelName']}`")
        lines += branches(child, names, depth=depth + 1)
    return lines


def relations(truth: Path) -> str:
    path = truth / "relations.csv"
    return ", ".join(f"`{label}`" for label in names_by_label(path)) if path.exists() else ""


def names_by_label(path: Path) -> dict[str, str]:
    return dict(line.split(",", 1) for line in path.read_text().splitlines())


def spoil(good: Path, target: Path) -> None:
    """Write a copy of a submission with typical defects: a NaN, a missing value, and an unknown class."""
    lines = good.read_text().splitlines()
    lines[2] = re.sub(r" 0\.[0-9]+", " NaN", lines[2], count=1)
    lines[4] = lines[4].rpartition(" ")[0]
    lines[7] = re.sub(r"/m/[^ ]+", "/m/unicorn", lines[7], count=1)
    target.write_text("\n".join(lines) + "\n")
