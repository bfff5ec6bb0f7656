"""Collects all output of a running service (linked pages, API responses, log files) and searches it for leaks.

Tests plant unique values in ground truths. If an output contains one of these values, the ground truth has leaked.
"""

import base64
import gzip
import html
import http.client
import re
import zipfile
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from io import BytesIO
from urllib.parse import unquote, urlencode, urljoin, urlsplit

import numpy as np
from numpy.typing import NDArray

from tests.flows.planted import Planted
from tests.flows.running import Running

LINK = re.compile(rb"""(?:href|action|hx-get|src)=["']([^"'#]+)""")
NOT_FOLLOWED = re.compile(
    r"^/(static/|accounts/logout|accounts/data/export|admin/logout|admin/jsi18n|submissions/.*/(edit|cancel))"
)
IDENTIFIER = re.compile(r"/[0-9a-f-]{36}(?=/|$)|/\d+(?=/|$)")
QUERIES_OF_A_KIND = 5
DATABASE = ("podium.sqlite3", "podium.sqlite3-wal")  # the files of the database
ENCODED = re.compile(rb"[\w+/-]{24,}={0,2}")
URLSAFE = bytes.maketrans(b"+/", b"-_")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
DOT = re.compile(r"(?<=\d)\.(?=\d)")
ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the service: its URL or path, whether an organizer received it, and its content."""

    place: str
    organizer: bool
    content: bytes

    @property
    def may_name_classes(self) -> bool:
        """Whether this output may contain the class names in `classes.csv`.

        Organizers may see these names, and check kits (files for local checks) contain them.
        """
        return self.organizer or bool(re.search(r"/kit(\?|$)", self.place))


@dataclass
class Visitor:
    """A user with the cookies of a browser and, if given, an API token. `ask` sends a request."""

    service: Running
    name: str
    token: str = ""
    organizer: bool = False
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: str = "", **more: str) -> tuple[int, bytes]:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **more}
        if self.token and path.startswith("/api/"):
            headers = {"Authorization": f"Bearer {self.token}", **more}
        with closing(http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)) as connection:
            connection.request(method, path, body.encode(), headers)
            answer = connection.getresponse()
            for name, value in answer.getheaders():
                if name.lower() == "set-cookie":
                    key, _, rest = value.partition("=")
                    self.cookies[key] = rest.partition(";")[0]
            heads = "".join(f"{name}: {value}\n" for name, value in answer.getheaders())
            return answer.status, heads.encode() + b"\n" + answer.read()

    def log_in(self, password: str) -> "Visitor":
        """Log in through the login form, as a user would."""
        self.ask("GET", "/accounts/login")
        form = {"csrfmiddlewaretoken": self.cookies["csrftoken"], "login": self.name, "password": password}
        status, answer = self.ask("POST", "/accounts/login", urlencode(form), **FORM)
        assert status == 302, answer
        return self

    def confirm(self, password: str) -> None:
        """Confirm the password. The export of personal data requires a recent confirmation."""
        self.ask("GET", "/accounts/again")
        form = {"csrfmiddlewaretoken": self.cookies["csrftoken"], "password": password}
        status, answer = self.ask("POST", "/accounts/again", urlencode(form), **FORM)
        assert status == 302, answer

    def crawl(self, seeds: Iterable[str]) -> Iterator[Output]:
        """Visit the given URLs and, recursively, all linked pages, and yield their contents.

        For each kind of page, only a few links with query strings are followed.
        """
        waiting, seen, asked = deque(seeds), set[str](), Counter[str]()
        while waiting:
            address = waiting.popleft()
            if address in seen:
                continue
            seen.add(address)
            status, content = self.ask("GET", address)
            assert status < 500, f"{address} answers {status} to {self.name}"
            yield Output(f"{self.name}: {status} {address}", self.organizer, content)
            for link in links(content, address):
                kind = IDENTIFIER.sub("/…", urlsplit(link).path) if urlsplit(link).query else ""
                asked[kind] += 1
                if not kind or asked[kind] <= QUERIES_OF_A_KIND:
                    waiting.append(link)


def links(content: bytes, address: str) -> Iterator[str]:
    for found in LINK.findall(content):
        target = urljoin(address, html.unescape(found.decode("utf-8", "replace")))
        if target.startswith("/") and not target.startswith("//") and not NOT_FOLLOWED.match(target):
            yield target.partition("#")[0]


def files(service: Running) -> Iterator[Output]:
    """Yield all files that the service has written, except ground truths and uploads."""
    secret = (service.home / "truths", service.home / "uploads")
    yield Output("its output", False, service.output.read_bytes())
    for path in sorted(service.home.rglob("*")):
        if path.is_file() and not any(path.is_relative_to(folder) for folder in secret):
            yield Output(str(path.relative_to(service.home)), "sqlite3" in path.name, path.read_bytes())


class Search:
    """A search for values that were planted in ground truths. Outputs with the same content are searched only once."""

    def __init__(self, planted: Planted) -> None:
        self.planted = planted
        self.known: dict[tuple[bool, bool, bytes], set[str]] = {}
        # The planted values, keyed by the first eight bytes of their lower-case spelling.
        self.starts: dict[int, set[str]] = {}
        for value in planted.all:
            self.starts.setdefault(int(eights(value.casefold())[0]), set()).add(value)
        self.sorted_starts = np.sort(np.array([*self.starts], np.uint64))

    def leaks(self, outputs: Iterable[Output]) -> dict[str, set[str]]:
        """Return the planted values that have leaked, keyed by the URL or path of the output that contains them."""
        found = {one.place: self.values_in(one) for one in outputs}
        return {place: values for place, values in found.items() if values}

    def values_in(self, output: Output) -> set[str]:
        key = output.organizer, output.may_name_classes, output.content
        if key not in self.known:
            allowed = self.planted.named if output.may_name_classes else set()
            allowed = allowed | self.planted.quoted if output.organizer else allowed
            texts = list(spellings(output.content))
            self.known[key] = {value for text in texts for value in (*self.values(text), *self.facts(text))} - allowed
        return self.known[key]

    def values(self, text: str) -> Iterator[str]:
        """Yield the planted values in a string that is in lower case."""
        found = eights(text)
        places = np.searchsorted(self.sorted_starts, found)
        known = self.sorted_starts[np.minimum(places, len(self.sorted_starts) - 1)] == found
        for start in set(found[known].tolist()):
            yield from (value for value in self.starts[start] if value.casefold() in text)

    def facts(self, text: str) -> Iterator[str]:
        """Yield the secrets in a string: each image name that is next to the image's usage or to one of its classes."""
        for image, facts in self.planted.facts.items():
            if image in text:
                words = "|".join(re.escape(fact.casefold()) for fact in facts)
                facts = re.findall(rf"{re.escape(image)}\W{{1,12}}(?:usage\W{{1,6}})?({words})\b", text)
                yield from (f"{image} {fact}" for fact in facts)


def eights(text: str) -> NDArray[np.uint64]:
    """Return the eight bytes that begin at each byte of a string (in UTF-8), as one integer for each position."""
    data = text.encode("utf-8", "surrogatepass")
    return np.ndarray(max(len(data) - 7, 0), np.uint64, data, strides=(1,)).copy()


def spellings(content: bytes) -> Iterator[str]:
    """Yield the text of an output, raw and decoded in several ways, in lower case and without decimal points."""
    for unpacked in contents(content):
        raw = unpacked.decode("utf-8", "replace")
        escaped = ESCAPE.sub(lambda one: chr(int(one[1], 16)), raw).replace("\\/", "/").replace('\\"', '"')
        plain: tuple[Callable[[str], str], ...] = (str, html.unescape, unquote)
        texts = {unwrap(version) for version in (raw, escaped) for unwrap in plain}
        yield from (DOT.sub("", text.casefold()) for text in texts)


def contents(content: bytes) -> Iterator[bytes]:
    """Yield the given bytes and everything that can be decoded from them with gzip, zip or base64."""
    yield content
    body = content.partition(b"\n\n")[2]
    for part in (content, body):
        if part.startswith(b"\x1f\x8b"):
            yield gzip.decompress(part)
        if part.startswith(b"PK"):
            with zipfile.ZipFile(BytesIO(part)) as archive:
                yield from (archive.read(name) for name in archive.namelist())
    runs = (run[: len(run) // 4 * 4].translate(URLSAFE) for run in ENCODED.findall(content))
    yield b"\n".join(base64.urlsafe_b64decode(run) for run in runs)
