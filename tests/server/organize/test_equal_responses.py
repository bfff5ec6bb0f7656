"""Changing one annotation of a ground truth changes no response, except for scores and salted hashes."""

import json
import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from shutil import copytree

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from evaluator.catalog import TRACKS
from evaluator.synthesis import synthesize
from server.accounts.models import User
from server.challenges.models import Challenge, Truth
from server.organize.services.importing import import_bundle
from tests.conftest import InlineQueue, Make
from tests.evaluator.test_private_facts import FACTS, Fact, private
from tests.server.documented import Answer, Api, content_of

SHEET = "slug: {slug}\ntitle: A challenge\nphases:\n  - {{slug: main, track: {track}, quota: {{per_day: 50}}}}\n"
OF_A_CHALLENGE = ("", "/data", "/rules", "/submit", "/submissions", "/leaderboard", "/team")
DOWNLOADS = ("/data/kit", "/data/sample", "/data/candidates")
OF_A_PHASE = ("kit", "template", "candidates", "quota", "leaderboard", "submissions")
STREAM = "application/offset+octet-stream"
SCORES = ("scores", "intervals", "rank", "rank_low", "rank_high")
# This pattern matches everything that differs between the responses to identical requests: row IDs, element IDs, form
# tokens and times.
VARYING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|csrfmiddlewaretoken\" value=\"\w+|\d{4}-\d\d-\d\dT[\d:.+]+Z?|\d\d:\d\d(:\d\d)?|"
    r"just now|\b(\d+ hours?( \d+ minutes?)?|\d+ (second|minute)s?)( ago)?|\"e[0-9a-f]{8}\"|/teams/\d+"
)
HEADERS = ("Content-Type", "Content-Disposition", "Upload-Offset", "Upload-Length", "Retry-After", "Location")


class Visit:
    """All responses about one challenge: to a team member, to a user without a team, and to an anonymous visitor."""

    def __init__(self, slug: str, member: User, stranger: User, api: Api) -> None:
        self.slug, self.member, self.stranger, self.api = slug, member, stranger, api
        self.phase = f"challenges/{slug}/phases/main"
        self.received: dict[str, list[str]] = {}  # Maps the name of each response to the response as lines.

    def keep(self, name: str, answer: Answer, *, without: tuple[str, ...] = ()) -> Answer:
        """Store a response under a name. The keys in `without` are removed from its JSON document."""
        content = content_of(answer).decode()
        if without:
            content = json.dumps({key: value for key, value in json.loads(content).items() if key not in without})
        content = content.replace(answer.headers["X-Request-Id"], "…")
        headers = [f"{header}: {answer.headers.get(header, '')}" for header in HEADERS]
        self.received[name] = self.plain("\n".join([str(answer.status_code), *headers, content])).splitlines()
        return answer

    def plain(self, text: str) -> str:
        """Return a text with placeholders for the challenge's slug, the ground truth's hash, IDs, tokens and times."""
        sha256 = Truth.objects.get(phase__challenge__slug=self.slug, active=True).sha256
        for known, replaced in ((sha256, "sha256"), (sha256[:12], "sha256"), (self.slug, "slug")):
            text = text.replace(known, replaced)
        return VARYING.sub("…", text)

    def pages(self) -> None:
        for user in (None, self.member, self.stranger):
            client = Client()
            if user:
                client.force_login(user)
            for page in (*OF_A_CHALLENGE, *DOWNLOADS):
                self.keep(f"{user} {page}", client.get(f"/challenges/{self.slug}{page}"))
            for route in OF_A_PHASE:
                self.keep(f"{user} {route}", client.get(f"/api/v1/{self.phase}/{route}"))
            self.keep(f"{user} challenge", client.get(f"/api/v1/challenges/{self.slug}"))

    def uploads(self, content: bytes) -> None:
        """Upload a file in two parts, and store all responses, including those to several invalid requests."""
        tus = {"Tus-Resumable": "1.0.0", "Idempotency-Key": f"tus {self.slug}".replace(" ", "-")}
        begin = {"user": self.member, "headers": {**tus, "Upload-Length": str(len(content))}}
        path = self.keep("begin", self.api.ask("POST", f"{self.phase}/uploads", **begin)).headers["Location"]
        path = path.removeprefix("http://testserver")
        for number, (offset, data) in enumerate([(0, content[:40]), (7, b"x"), (40, content[40:]), (40, b"")]):
            headers = {**tus, "Upload-Offset": str(offset)}
            sent = {"user": self.member, "headers": headers, "data": data, "content_type": STREAM}
            self.keep(f"part {number}", self.api.ask("PATCH", path, **sent))
            self.keep(f"state {number}", self.api.get(path, user=self.member))
        for name, user, length in (("stranger", self.stranger, 5), ("nobody", None, 5), ("large", self.member, 10**12)):
            headers = {**tus, "Upload-Length": str(length)}
            self.keep(f"begin {name}", self.api.ask("POST", f"{self.phase}/uploads", user=user, headers=headers))
        self.keep("foreign upload", self.api.get(path, user=self.stranger))
        self.keep("used key", self.upload(b"another file", key=tus["Idempotency-Key"]))

    def upload(self, content: bytes, *, user: User | None = None, key: str = "") -> Answer:
        headers = {"Idempotency-Key": key} if key else {}
        return self.api.upload(f"{self.phase}/submissions", file=content, user=user or self.member, headers=headers)

    def results(self, files: dict[str, bytes], queue: InlineQueue) -> set[str]:
        """Submit and score files, store all responses, and return the statuses of the submissions."""
        sent = {name: self.keep(f"submit {name}", self.upload(content)).json() for name, content in files.items()}
        for name, content in files.items():
            self.keep(f"duplicate {name}", self.upload(content))
        self.keep("foreign submission", self.upload(b"", user=self.stranger))
        queue.work()
        client, statuses = Client(), set()
        client.force_login(self.member)
        for name, submission in sent.items():
            address = f"submissions/{submission['id']}"
            answer = self.keep(f"result {name}", self.api.get(address, user=self.member), without=SCORES)
            statuses.add(answer.json()["status"])
            if answer.json()["status"] != "scored":
                self.keep(f"page {name}", client.get(f"/{address}/"))
                self.keep(f"panel {name}", client.get(f"/{address}/panel?brief=1"))
                self.keep(f"again {name}", client.post(f"/{address}/submit-anyway"))
        return statuses


def submissions(made: Path, track: str, template: bytes) -> dict[str, bytes]:
    """Return the contents of valid files and of files with various defects, keyed by name."""
    form = TRACKS[track].form
    good = (made / "submissions" / f"quality-0.60.{form.suffix}").read_bytes()
    files = {
        "good": good,
        "template": template,
        "empty": b"",
        "unknown image": re.sub(rb"\b[0-9a-f]{16}\b", b"unknown", good, count=2),
        "pixels": re.sub(rb"\b0\.\d+", b"5000", good),
        "NaN": re.sub(rb"\b0\.\d+", b"nan", good, count=3),
        "semicolons": good.replace(b",", b";"),
        "half": good[: len(good) // 2],
        "label": re.sub(rb"/m/\w+", b"/m/unicorn", good, count=2),
        "other numbers": re.sub(rb"\b\d+\b", b"-1", good, count=40),
    }
    names = {content: name for name, content in reversed(files.items())}
    return {name: content for content, name in names.items()}


def truths(folder: Path, track: str) -> Iterator[Path]:
    """Yield a ground truth, a copy with one changed annotation, and a copy in which one image is made private."""
    images = [row.partition(",")[0] for row in (folder / "images.csv").read_text().split()[1:]]
    (folder / "usage.csv").write_text("\n".join(["ImageID,Usage", *(f"{image},Public" for image in images)]) + "\n")
    (folder / "salt.txt").write_text("5a" * 16)
    yield folder
    facts: dict[str, Fact] = {"fact": next(iter(FACTS[track].values())), "usage": private}
    for name, fact in facts.items():
        changed = folder.with_name(name)
        copytree(folder, changed)
        fact(changed)
        yield changed


@pytest.mark.parametrize("track", TRACKS)
def test_one_fact_of_the_truth_changes_no_response(
    track: str,
    make: Make,
    api: Api,
    inline_queue: InlineQueue,
    tmp_path: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    synthesize(track, tmp_path / "made", images=12, seed=3, qualities=(0.6,))
    member, stranger = make.user(username="ada"), make.user(username="grace")
    visits = []
    for number, truth in enumerate(truths(tmp_path / "made" / "truth", track)):
        slug = f"truth{number}"
        folder = tmp_path / slug
        copytree(truth, folder / "phases" / "main" / "truth")
        (folder / "challenge.yaml").write_text(SHEET.format(slug=slug, track=track))
        with django_capture_on_commit_callbacks(execute=True):
            import_bundle(path=folder, by=None)
        challenge = Challenge.objects.get(slug=slug)
        make.team(challenge, member, name="Owls")
        visit = Visit(slug, member, stranger, api)
        visit.pages()
        template = content_of(Client().get(f"/challenges/{slug}/data/sample"))
        files = submissions(tmp_path / "made", track, template)
        visit.uploads(b"ImageId,PredictionString\n" + b"x" * 40)
        assert {"scored", "rejected"} <= visit.results(files, inline_queue)
        # Hide the challenge of this visit, so that lists of challenges contain only one challenge in every visit.
        Challenge.objects.filter(slug=slug).update(visibility="private")
        visits.append(visit)
    first, *others = visits
    assert len(first.received) > 90
    for visit in others:
        assert visit.received.keys() == first.received.keys()
        changed = [
            *(
                line
                for name, lines in first.received.items()
                for line in unified_diff(lines, visit.received[name], name)
            )
        ]
        assert not changed, "\n".join(changed)
