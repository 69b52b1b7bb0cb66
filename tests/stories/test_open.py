"""`sordino open` as it runs: strangers are told nothing, one person gets a job."""

import http.client
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, final
from urllib.parse import urlencode, urlsplit

import pytest

from sordino.office.cli.main import main
from tests.batches import for_each
from tests.serving import start_serving
from tests.unit.form.test_form import CHOSEN, fill

FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


@final
class Page(NamedTuple):
    """A page that is served, and its own address."""

    host: str
    path: str
    folder: Path

    @property
    def own(self) -> dict[str, str]:
        return {"Origin": f"http://{self.host}", "Sec-Fetch-Site": "same-origin"}

    def ask(
        self, method: str, headers: dict[str, str], body: bytes = b"", path: str = ""
    ) -> tuple[int, dict[str, str], str]:
        line = http.client.HTTPConnection(self.host, timeout=60)
        line.request(method, path or self.path, body, {"Host": self.host} | headers)
        answer = line.getresponse()
        told = dict(answer.getheaders())
        text = answer.read().decode()
        line.close()
        return answer.status, {key.lower(): at for key, at in told.items()}, text


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = fill(tmp_path_factory.mktemp("opened"))
    log = folder.with_name("opened.log")
    server = start_serving(f"sordino open {folder}", errors=log)
    parts = urlsplit(server.address)
    assert parts.hostname == "127.0.0.1"
    yield Page(parts.netloc, parts.path, folder)
    server.stop()
    assert parts.path not in log.read_text()


STRANGERS: Final[dict[str, tuple[str, dict[str, str], str]]] = {
    "no token": ("GET", {}, "/"),
    "another token": ("GET", {}, f"/{'A' * 86}/"),
    "a token in other letters": ("GET", {}, "/%C3%A4/"),
    "a path beyond it": ("GET", {}, "{path}x"),
    "without its end": ("GET", {}, "{bare}"),
    "a name that leads here": ("GET", {"Host": "evil.example:80"}, "{path}"),
    "the right name, another port": ("GET", {"Host": "127.0.0.1:1"}, "{path}"),
    "no name": ("GET", {"Host": ""}, "{path}"),
    "a form from elsewhere": ("POST", {"Origin": "http://evil.example"}, "{path}"),
    "a form from a file": ("POST", {"Origin": "null"}, "{path}"),
    "a form from nowhere": ("POST", {}, "{path}"),
    "a form of another page here": ("POST", {"Origin": "http://127.0.0.1:1"}, "{path}"),
    "a form that is said to come from elsewhere": (
        "POST",
        {"Origin": "http://{host}", "Sec-Fetch-Site": "cross-site"},
        "{path}",
    ),
    "a question of scripts": ("OPTIONS", {"Origin": "http://evil.example"}, "{path}"),
    "another verb": ("DELETE", {"Origin": "http://{host}"}, "{path}"),
}


@for_each("who", sorted(STRANGERS))
def test_strangers_are_told_nothing(who: str, page: Page) -> None:
    """All of them get one answer, from which nothing can be learned."""
    method, headers, path = STRANGERS[who]
    names = {"path": page.path, "bare": page.path[:-1], "host": page.host}
    written = {name: text.format(**names) for name, text in headers.items()}
    body = urlencode(CHOSEN).encode() if method == "POST" else b""
    kind = FORM if method == "POST" else {}
    status, told, text = page.ask(method, kind | written, body, path.format(**names))
    assert (status, text) == (404, "Nothing is here.")
    assert not [name for name in told if name.startswith("access-control")]
    assert told["cross-origin-resource-policy"] == "same-origin"


def test_one_person_gets_a_job(page: Page) -> None:
    status, told, text = page.ask("GET", {})
    assert status == 200
    assert "visits.csv" in text
    policy = told["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert policy.endswith(
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert told["cache-control"] == "no-store"
    assert told["referrer-policy"] == "same-origin"
    fields: dict[str, Any] = CHOSEN | {"act": "download"}
    body = urlencode(fields).encode()
    status, told, text = page.ask("POST", FORM | page.own, body)
    assert (status, told["content-type"]) == (200, "application/toml")
    assert told["content-disposition"] == 'attachment; filename="job.toml"'
    assert "[releases.counts]" in text
    assert [path.name for path in page.folder.iterdir()] == ["visits.csv"]


def test_bodies_have_an_end(page: Page) -> None:
    for length, code in ((2**20 + 1, 413), (2**20, 400)):
        body = b"a=1&" * (length // 4) + b"a" * (length % 4)
        assert page.ask("POST", FORM | page.own, body)[0] == code
    assert page.ask("POST", page.own | {"Content-Type": "text/plain"}, b"a=1")[0] == 415


def test_what_cannot_be_opened_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["open", str(tmp_path / "nowhere")]) == 1
    assert "FOLDER is no folder" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in ("form.loopback", "service.listening"):
        monkeypatch.delitem(sys.modules, f"sordino.office.{name}", raising=False)
    assert main(["open", str(tmp_path)]) == 1
    assert "[serve]" in capsys.readouterr().err
