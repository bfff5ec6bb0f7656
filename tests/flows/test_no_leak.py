"""No page, API response, log file or export contains any part of a ground truth, whatever the outcome of scoring."""

import base64
import gzip
import html
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from evaluator.catalog import TRACKS
from tests.flows.asking import log_in_program, unusable_requests, upload_in_parts
from tests.flows.crawling import DATABASE, Output, Search, Visitor, files
from tests.flows.planted import Planted, bad_files, plant_challenge
from tests.flows.running import Running, wait_for
from tests.server.access_table import TABLE

# Run only with the embedded database and broker. The output does not depend on them, and the search takes minutes.
pytestmark = [pytest.mark.processes, pytest.mark.enable_socket, pytest.mark.embedded]

PASSWORD = "correct horse battery"
PEOPLE = """
import sys, django; django.setup()
from server.accounts.models import User
from server.accounts.services import issue_token
from server.challenges.models import Challenge
from server.challenges.services import join, join_team
from server.teams.services import invitations, merging
people = {name: User.objects.create_user(name, f"{name}@example.org", sys.argv[1]) for name in
          ("ada", "mate", "rival", "eve", "olga", "root")}
people["root"].is_staff = people["root"].is_superuser = True
people["root"].save()
challenge = Challenge.objects.get(slug="flows")
challenge.organizers.add(people["olga"])
team = join(user=people["ada"], challenge=challenge, accept_rules=True).team
join_team(user=people["mate"], team=team, accept_rules=True)
rival = join(user=people["rival"], challenge=challenge, accept_rules=True).team
invitations.invite_by_link(team=team, by=people["ada"])
merging.propose(team=rival, other=team, by=people["rival"])
for user in people.values():
    print(issue_token(user=user, name="flows", scope="organize", days=1)[1])
"""
NUMBER, FACT = "0.38271946158", '{"image": "0e826654f2ebe2a6", "usage": "Private"}'
PHASE = "challenges/flows/phases/openimages-classification"
TEAMS = {"ada": "ada", "mate": "ada", "rival": "rival"}
QUESTIONS = ("", "?split=all", "?split=private&format=csv")


class Run:
    """A service in which submissions have had every possible outcome, and the users of this service."""

    def __init__(self, service: Running, planted: Planted) -> None:
        self.service, self.planted = service, planted
        self.visitors = [Visitor(service, "nobody")]
        self.outputs: list[Output] = []
        # Maps the names of teams to the contents of their uploaded files.
        self.uploads: dict[str, set[bytes]] = {"ada": set(), "rival": set()}
        self.downloads = 0

    def add_people(self) -> None:
        made = self.service.run("-c", PEOPLE, PASSWORD)
        self.outputs.append(Output("making people", False, made.stderr.encode()))
        for name, token in zip(("ada", "mate", "rival", "eve", "olga", "root"), made.stdout.split(), strict=True):
            self.visitors.append(Visitor(self.service, name, token, name in ("olga", "root")).log_in(PASSWORD))

    def of(self, name: str) -> Visitor:
        return next(visitor for visitor in self.visitors if visitor.name == name)

    def submit(self, name: str, phase: str, content: bytes) -> None:
        self.uploads[TEAMS[name]].add(content)
        self.post(name, f"/api/v1/challenges/flows/phases/{phase}/submissions", content)

    def post(self, name: str, path: str, content: bytes, *, expected: tuple[int, ...] = (201,)) -> None:
        self.service.token = self.of(name).token
        status, answer = self.service.post_file(path, content, "some.csv")
        assert status in expected, answer
        self.outputs.append(Output(f"{name}: POST {path}", self.of(name).organizer, json.dumps(answer).encode()))

    def upload_in_parts(self, phase: str, content: str) -> None:
        self.uploads["ada"].add(content.encode())
        self.outputs += upload_in_parts(self.of("ada"), self.of("rival"), phase, content)

    def send_unusable_requests(self) -> None:
        ((submission,),) = self.service.rows("SELECT id FROM submissions_submission WHERE status = 'rejected' LIMIT 1")
        for visitor in map(self.of, ("nobody", "ada", "eve")):
            self.outputs += unusable_requests(visitor, "openimages-detection", str(submission))
        self.outputs += log_in_program(self.of("ada"))

    def manage(self, *words: str) -> None:
        ended = self.service.run("manage.py", *words)
        self.outputs.append(Output(f"manage.py {words[0]}", True, (ended.stdout + ended.stderr).encode()))

    def wait(self) -> None:
        """Wait until all jobs are finished, except for those that wait because a ground truth file is damaged."""
        rows = self.service.rows
        busy = "status IN ('queued', 'running') AND not_before IS NULL"
        reruns = "failure = '' AND not_before IS NULL"
        wait_for(
            lambda: (
                rows(f"SELECT count(*) FROM submissions_submission WHERE {busy}") == [(0,)]
                and rows(f"SELECT count(*) FROM submissions_rerun WHERE {reruns}") == [(0,)]
            )
        )

    def seeds(self, visitor: Visitor) -> Iterator[str]:
        """Yield the URLs at which a visitor's crawl starts: those of GET routes, with the ids of existing objects."""
        every = 1 if visitor.name in ("ada", "olga") else 10
        submissions = [str(row[0]) for row in self.service.rows("SELECT id FROM submissions_submission")][::every]
        for route in (route for route, methods in TABLE.items() if "GET" in methods and "(?P" not in route):
            if route.startswith("admin/") and "<" in route:
                continue  # The crawl finds the admin pages of single objects by following links.
            if route == "accounts/data/export":
                # The export of personal data contains the uploaded files, which were made from a ground truth. The
                # function `exported` downloads the export and removes these files.
                continue
            phased = "phases" in route or not route.startswith("api/")
            for phase in TRACKS if phased and "<slug" in route else [""]:
                address = "/" + route.partition("?")[0].replace("<slug:slug>", "flows").replace("<slug:phase>", phase)
                for submission in submissions if "<uuid" in route else [""]:
                    full = re.sub(r"<\w+:\w+>|<\w+>", submission or "1", address)
                    asks = QUESTIONS if "leaderboard" in full else ("",)
                    page = "" if full.startswith("/api/") or not phase else f"phase={phase}"
                    yield from (full + joined(question, page) for question in asks)

    def crawl(self) -> Iterator[Output]:
        yield from self.outputs
        for visitor in self.visitors:
            if visitor.token:
                yield exported(visitor)
            yield from (one for one in visitor.crawl(self.seeds(visitor)) if not self.is_own_upload(one))
        yield from files(self.service)

    def is_own_upload(self, output: Output) -> bool:
        """Return whether an output (a response) is the download of a file that the visitor's own team uploaded.

        Such downloads are not searched for parts of a ground truth, because the files were made from it.
        """
        name, _, address = output.place.partition(": ")
        content = output.content.partition(b"\n\n")[2]
        found = "/file" in address and content in self.uploads.get(TEAMS.get(name, ""), set())
        self.downloads += found
        return found


def exported(visitor: Visitor) -> Output:
    """Download the export of a visitor's personal data, and return its documents without the uploaded files."""
    visitor.confirm(PASSWORD)
    status, content = visitor.ask("GET", "/accounts/data/export")
    assert status == 200
    with zipfile.ZipFile(io.BytesIO(content.partition(b"\n\n")[2])) as archive:
        names = [name for name in archive.namelist() if not name.startswith("submissions/")]
        documents = b"\n".join(archive.read(name) for name in names)
    return Output(f"{visitor.name}: export", visitor.organizer, documents)


def joined(question: str, more: str) -> str:
    return f"{question or '?'}{'&' if question else ''}{more}" if more else question


def zipped(folder: Path, **changes: Callable[[str], str]) -> bytes:
    """Return a ground truth folder as a zip file. `changes` maps file names to functions that change the content."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.writestr(path.name, changes.get(path.stem, str)(path.read_text()))
    return packed.getvalue()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Run a service whose submissions were scored and rescored, were rejected with every kind of defect, or failed."""
    folder = tmp_path_factory.mktemp("planted")
    planted = plant_challenge(folder)
    home = tmp_path_factory.mktemp("leaks") / "home"
    home.mkdir()
    service = Running(home, SWEEP_SECONDS=1, LEASE_SECONDS=3, HEARTBEAT_SECONDS=1, INTERVAL_REPLICATES=20)
    try:
        yield full_run(Run(service.start(), planted), folder)
    finally:
        service.stop()


def full_run(run: Run, folder: Path) -> Run:
    run.manage("import_challenge", str(folder))
    run.add_people()
    for name, track in TRACKS.items():
        good = (folder / f"{name}.submission").read_text()
        run.submit("ada", name, good.encode())
        run.submit("rival", name, gzip.compress(good.encode()))
        run.post("ada", f"/api/v1/challenges/flows/phases/{name}/submissions", good.encode(), expected=(409,))
        for bad in bad_files(track, good):
            run.submit("ada", name, bad.encode())
        run.upload_in_parts(name, f"{good}\n\n")
    run.wait()
    rescore(run, folder / "phases" / "openimages-detection" / "truth")
    break_truths(run, folder)
    for words in (("verify_audit",), ("rescore", "flows", "objectnet", "--preview"), ("sweep",)):
        run.manage(*words)
    run.wait()
    run.send_unusable_requests()
    return run


def rescore(run: Run, truth: Path) -> None:
    """Upload a faulty ground truth, which is rejected. Then upload a valid one and rescore all submissions."""
    phase = "/api/v1/challenges/flows/phases/openimages-detection"
    faulty = zipped(truth, boxes=lambda text: text.replace(",0.", ",zero.", 3))
    run.service.token = run.of("olga").token
    assert run.service.post_file(f"{phase}/truths", faulty, "truth.zip")[0] == 422
    run.post("olga", f"{phase}/truths", zipped(truth, boxes=lambda text: "".join(text.splitlines(True)[:-1])))
    for path in (f"{phase}/rescore", f"{phase}/rescore/apply"):
        run.wait()
        status, answer = run.service.ask("POST", path, b"{}", **{"Content-Type": "application/json"})
        assert status in (200, 409), answer
        run.outputs.append(Output(f"olga: POST {path}", True, json.dumps(answer).encode()))
    run.wait()


def break_truths(run: Run, folder: Path) -> None:
    """Damage the files of two ground truths, one completely and one partly. New submissions then have to wait."""
    for name, damage in (("objectnet", slice(0, None)), ("flickr30k-grounding", slice(-4000, -2000))):
        query = "SELECT prepared, source FROM challenges_truth JOIN challenges_phase ON phase_id = challenges_phase.id"
        ((*stored,),) = run.service.rows(f"{query} WHERE slug = ? AND active", name)
        for path in (run.service.home / "truths" / each for each in stored):
            content = bytearray(path.read_bytes())
            content[damage] = b"x" * len(content[damage])
            path.write_bytes(content)
        run.submit("mate", name, (folder / f"{name}.submission").read_bytes() + b"\n")
    run.wait()


def test_no_output_contains_a_part_of_a_truth(run: Run) -> None:
    statuses = run.service.statuses()
    assert statuses["scored"] >= 2 * len(TRACKS)
    assert statuses["rejected"] > 5 * len(TRACKS)
    assert statuses["queued"] >= 2  # At least two submissions wait, because files of their ground truths are damaged.
    assert len(run.planted.hidden) > 1000
    outputs = list(run.crawl())
    assert len(outputs) > 2000
    assert run.downloads > len(TRACKS)
    salts = {salt.strip() for (salt,) in run.service.rows("SELECT salt FROM challenges_phase")}
    assert len(salts) == len(TRACKS)  # Only the database contains them.
    leaks = Search(run.planted.with_hidden(salts)).leaks(outputs)
    assert {one: found for one, found in leaks.items() if one not in DATABASE or found - salts} == {}


def test_a_leak_is_found_on_every_page_and_in_every_file_that_contains_it(run: Run) -> None:
    """A number is planted in the note of a submission and in a log file.

    The search must find it on each page and in each file that shows the note or contains the log line.
    """
    leak = Planted(hidden={NUMBER.replace("0.", "")})
    ada = run.of("ada")
    submission = json.loads(ada.ask("GET", f"/api/v1/{PHASE}/submissions")[1].partition(b"\n\n")[2])["results"][0]["id"]
    note = json.dumps({"note": f"a box at {NUMBER}"})
    assert ada.ask("PATCH", f"/api/v1/submissions/{submission}", note, **{"Content-Type": "application/json"})[0] == 200
    with (run.service.home / "logs" / "sweeper.log").open("a") as log:
        log.write(f"box {NUMBER}\n")
    of_the_phase = f"/challenges/flows/submissions?phase={PHASE.rpartition('/')[2]}"
    outputs = [*ada.crawl(["/", of_the_phase, f"/api/v1/{PHASE}/submissions"]), *files(run.service)]
    found = {place.partition("?")[0] for place in Search(leak).leaks(outputs)}
    assert found >= {
        "ada: 200 /challenges/flows/submissions",
        f"ada: 200 /submissions/{submission}/",
        f"ada: 200 /api/v1/{PHASE}/submissions",
        "logs/sweeper.log",
    }
    assert Search(leak).leaks(run.of("rival").crawl(["/"])) == {}


SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": bytes,
    "in JSON": lambda text: json.dumps({"of": text.decode()}).encode(),
    "in HTML": lambda text: html.escape(text.decode()).encode(),
    "in an address": lambda text: quote(text.decode(), safe="").encode(),
    "in capitals": bytes.upper,
    "escaped": lambda text: "".join(f"\\u{byte:04x}" for byte in text).encode(),
    "gzipped": gzip.compress,
    "in base64": base64.b64encode,
}


@pytest.mark.parametrize("value", [NUMBER, "38.27194615 %", "3.827194615e-01", "bcdfghkmpqrt", "eAEB+/z9Qkd==", FACT])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_value_is_located_in_every_spelling_and_encoding(spelling: str, value: str) -> None:
    values = {"3827194615", "bcdfghkmpqrt", "eAEB+/z9Qkd=="}
    planted = Planted(hidden=values, facts={"0e826654f2ebe2a6": {"Private"}})
    output = Output("a page", False, SPELLINGS[spelling](f"before {value} after, and more".encode()))
    assert Search(planted).leaks([output]) != {}


def test_values_for_organizers_are_leaks_in_outputs_for_others() -> None:
    for planted in (Planted(named={"bcdfghkmpqrt"}), Planted(quoted={"bcdfghkmpqrt"})):
        outputs = [Output(name, name == "olga", b"/m/bcdfghkmpqrt") for name in ("olga", "ada")]
        assert set(Search(planted).leaks(outputs)) == {"ada"}
