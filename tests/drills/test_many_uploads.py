"""Each of a thousand simultaneous uploads is accepted or rejected with an error code. All accepted files are scored."""

import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from statistics import median

import pytest

from tests.drills.conftest import Figures, Open
from tests.drills.counting import counted
from tests.drills.slow import form, upload_head
from tests.flows.running import wait_for
from tests.flows.taking_part import JOIN, make_bundle

pytestmark = pytest.mark.processes

# TWICE is the number of files that are submitted a second time.
UPLOADS, TEAMS, TWICE = 1000, 10, 40
FILE_BYTES = 100_000
SCORED_SECONDS = 300.0
# Default values of the settings that the other drills in this folder change. The drill in this file uses the defaults.
DEFAULTS = {
    "WEB_PROCESSES": 2,
    "LEASE_SECONDS": 60,
    "HEARTBEAT_SECONDS": 15,
    "SWEEP_SECONDS": 5,
    "RESEND_SECONDS": 30,
}


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a challenge bundle and a submission of slightly less than FILE_BYTES."""
    return make_bundle(tmp_path_factory.mktemp("many"), images=70)


def files(content: bytes) -> list[bytes]:
    """Return distinct files of FILE_BYTES each. They differ only in the spaces between tokens, which have no effect."""
    header, rest = content.rstrip(b"\n").split(b"\n", 1)
    first, tokens = rest.split(b" ", 1)
    spare = FILE_BYTES - len(header) - len(rest) - 1
    assert spare > UPLOADS
    different = UPLOADS - TWICE
    return [b"%s\n%s%s%s%s" % (header, first, b" " * (1 + n), tokens, b" " * (spare - n)) for n in range(different)]


class Burst:
    """Many requests that are completed at the same moment.

    Each request is first sent without its last byte. When all requests have reached this point, the last bytes are
    sent.
    """

    def __init__(self, port: int, requests: list[bytes]) -> None:
        self.port, self.requests = port, requests
        self.seconds: list[float] = []

    def answers(self) -> list[tuple[int, dict[str, object]]]:
        return asyncio.run(self._all())

    async def _all(self) -> list[tuple[int, dict[str, object]]]:
        self.there = asyncio.Barrier(len(self.requests))
        return list(await asyncio.gather(*map(self._one, self.requests)))

    async def _one(self, request: bytes) -> tuple[int, dict[str, object]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request[:-1])
        await writer.drain()
        await self.there.wait()
        began = time.monotonic()
        writer.write(request[-1:])
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        body = await reader.readexactly(length)
        self.seconds.append(time.monotonic() - began)
        writer.close()
        return int(head.split()[1]), json.loads(body)


@pytest.mark.drill(21)
def test_a_thousand_simultaneous_uploads_are_accepted_or_refused_with_a_code(
    opened: Open, bundle: Path, figures: Figures
) -> None:
    service = opened(bundle=bundle, **DEFAULTS)
    tokens = service.run("-c", JOIN, *(f"person{number}" for number in range(TEAMS))).stdout.split()
    different = files((bundle / "predictions.csv").read_bytes())
    requests = []
    for number in range(UPLOADS):
        # If a file is uploaded twice, both uploads are by the same team.
        place = number % len(different)
        kind, body = form(different[place], "predictions.csv")
        requests.append(upload_head(tokens[place % TEAMS], kind, len(body)) + body)
    burst = Burst(service.port, requests)
    began = time.monotonic()
    answers = burst.answers()
    taken_in = time.monotonic() - began
    codes = Counter(answer.get("code", status) for status, answer in answers)
    wait_for(lambda: not service.statuses().keys() & {"queued", "running"}, seconds=SCORED_SECONDS, every=0.5)
    scored_in = time.monotonic() - began
    rows = counted(service)
    figures(
        f"{len(answers)} at once: {dict(codes)}, median answer {median(burst.seconds):.1f} s, last {taken_in:.1f} s; "
        f"{rows.scored} of {rows.taken} scored, {rows.twice} twice, {scored_in:.1f} s after the first byte"
    )
    assert {status for status, _ in answers} == {201, 409}
    assert codes == {201: UPLOADS - TWICE, "duplicate_file": TWICE}
    assert (rows.taken, rows.scored, rows.lost, rows.twice) == (UPLOADS - TWICE, UPLOADS - TWICE, 0, 0)
