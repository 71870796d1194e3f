"""The client of Spectrum Discover, over real HTTPS to a server of the test's own with a real catalogue behind it."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cli.data import discover
from cli.data.discover import Discover
from datasets.catalogue import CatalogueError, as_of
from datasets.shares import shares
from datasets.sqlite_reader import SqliteCatalogue
from simulator.access import pki
from tests.support.catalogues import generated_catalogue
from tests.support.printed_queries import BICYCLES, PRINTED_BICYCLES, PRINTED_WINDOW, WINDOW, printed

USER, PASSWORD = "sdadmin", "s3cret:pass"


class Server(ThreadingHTTPServer):
    """A console with one account; the fields say how it behaves, and `calls` what it was asked."""

    def __init__(self, catalogue: Path, keys: pki.Pki) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys.certificate("server"), keys.key("server"))
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.catalogue = catalogue
        self.calls: list[tuple[str, str, str]] = []
        self.tokens = 0
        self.valid = 10**9
        """Requests for which a token is valid."""
        self.used = 0
        self.queued = 0
        """How often a task is asked for before it is there."""
        self.sync_status = 200
        self.as_json = True
        """Whether it answers in JSON as it is asked to; else in CSV, its default."""
        self.quotes = True
        self.refused = ""
        """What any query is refused with."""
        self.location = "/db2whrest/v1/task_status/0c1f"
        self.tasks: list[str] = []

    @property
    def host(self) -> str:
        """Return name and port."""
        return f"localhost:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def _answer(self, status: int, text: str = "", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def _may(self) -> bool:
        self.server.used += 1
        right = f"Bearer token-{self.server.tokens}"
        if self.headers["Authorization"] == right and self.server.used <= self.server.valid:
            return True
        self._answer(401, "expired")
        return False

    def do_GET(self) -> None:
        server = self.server
        server.calls.append(("GET", self.path, ""))
        if self.path == discover.TOKEN:
            basic = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
            if self.headers["Authorization"] != basic:
                self._answer(401, "no")
                return
            server.tokens += 1
            server.used = 0
            self._answer(200, x_auth_token=f"token-{server.tokens}")
        elif self._may():
            if server.queued > 0:
                server.queued -= 1
                self._answer(200, json.dumps({"status": "work scheduled"}), Content_Type="application/json")
            else:
                self._rows(server.tasks[-1])

    def do_POST(self) -> None:
        server = self.server
        sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
        server.calls.append(("POST", self.path, sql))
        if not self._may():
            return
        if server.refused:
            self._answer(int(server.refused[:3]), server.refused[3:], Location="https://elsewhere.example.com/")
        elif self.path == discover.QUERY and server.sync_status != 200:
            self._answer(server.sync_status, "upstream timed out")
        elif self.path == discover.LONG_QUERY:
            server.tasks.append(sql)
            self._answer(202, json.dumps({"status": "work scheduled"}), Location=server.location)
        else:
            self._rows(sql)

    def _rows(self, sql: str) -> None:
        rows = SqliteCatalogue(self.server.catalogue).ask(sql)
        if self.server.as_json and self.headers["Accept"] == "application/json":
            self._answer(200, json.dumps([dict(enumerate(row)) for row in rows]), Content_Type="application/json")
            return
        sign = '"' if self.server.quotes else ""
        lines = [",".join([str(n), *(f"{sign}{value}{sign}" for value in row)]) for n, row in enumerate(rows)]
        self._answer(200, "\n".join(lines), Content_Type="text/csv")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> pki.Pki:
    """Return a CA with the certificate of a server."""
    return pki.create(tmp_path_factory.mktemp("keys"), "discover")


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of the generated data set's catalogue."""
    path = tmp_path_factory.mktemp("catalogue") / "a2d2.db"
    generated_catalogue(path)
    return path


@pytest.fixture
def server(catalogue: Path, keys: pki.Pki) -> Iterator[Server]:
    """Run a console."""
    with Server(catalogue, keys) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def client(server: Server, keys: pki.Pki, **changes: Any) -> Discover:
    """Return a client of a console."""
    fields: dict[str, Any] = {"password": PASSWORD, "ca": keys.ca, "sleep": lambda _: None}
    return Discover(server.host, USER, **fields | changes)


@pytest.mark.parametrize(("quotes", "as_json"), [(True, False), (False, False), (True, True)])
def test_the_printed_queries(server: Server, keys: pki.Pki, quotes: bool, as_json: bool) -> None:
    """The queries of R-5.3-5 and R-5.4-3 give their printed rows, by CSV with and without quotes, and by JSON."""
    server.quotes, server.as_json = quotes, as_json
    source = client(server, keys)
    assert set(source.ask(WINDOW)) == printed(PRINTED_WINDOW)
    assert set(source.ask(BICYCLES)) == printed(PRINTED_BICYCLES) | printed(PRINTED_WINDOW)


def test_the_same_answers_as_of_the_file(server: Server, keys: pki.Pki, catalogue: Path) -> None:
    """Shares and time of a catalogue are the same from a console and from its file."""
    file = SqliteCatalogue(catalogue)
    source = client(server, keys)
    assert shares(source, file.card()) == shares(file, file.card())
    assert as_of(source) == as_of(file)


def test_the_calls(server: Server, keys: pki.Pki) -> None:
    """A token is fetched once by GET, then each query is a POST with the bare SQL."""
    source = client(server, keys)
    source.ask("select 1")
    source.ask("select 2")
    assert server.calls == [
        ("GET", "/auth/v1/token", ""),
        ("POST", "/db2whrest/v1/sql_query", "select 1"),
        ("POST", "/db2whrest/v1/sql_query", "select 2"),
    ]


def test_a_token_that_expires(server: Server, keys: pki.Pki) -> None:
    """After a 401 a new token is fetched, and the query is sent once again."""
    source = client(server, keys)
    server.valid = 1
    assert [source.ask("select 1"), source.ask("select 2")] == [[("1",)], [("2",)]]
    assert server.tokens == 2
    server.valid = 0
    with pytest.raises(CatalogueError, match="401 for a token that it has just given"):
        source.ask("select 3")
    assert server.tokens == 3


@pytest.mark.parametrize("status", [408, 504])
def test_a_long_query_goes_through_the_queue(server: Server, keys: pki.Pki, status: int) -> None:
    """A query that takes too long is queued, and its Location is asked until the rows are there, past an expiry."""
    server.sync_status = status
    server.queued, server.valid = 3, 3
    server.location = "https://internal.example.com/db2whrest/v1/task_status/0c1f?full=1"
    pauses: list[float] = []
    assert client(server, keys, sleep=pauses.append).ask("select 7") == [("7",)]
    assert ("POST", "/db2whrest/v1/sql_query_async", "select 7") in server.calls
    assert ("GET", "/db2whrest/v1/task_status/0c1f?full=1", "") in server.calls
    assert pauses == [1, 2, 4, 8]
    assert server.tokens == 2


def test_a_queue_that_does_not_say_where(server: Server, keys: pki.Pki) -> None:
    """A query that is queued without a Location cannot be waited for."""
    server.sync_status = 202
    with pytest.raises(CatalogueError, match="does not say where; ask again"):
        client(server, keys).ask("select 7")


def test_a_long_query_that_never_ends(server: Server, keys: pki.Pki) -> None:
    """A query that the queue does not finish in time is an error."""
    server.sync_status, server.queued = 504, 10**9
    with pytest.raises(CatalogueError, match="not finished after 30 s; ask for fewer"):
        client(server, keys, longest=30).ask("select 7")


@pytest.mark.parametrize(
    ("refused", "parts"),
    [
        (
            "400SQL0204N T_CARR is an undefined name",
            ("answers /db2whrest/v1/sql_query with 400", "T_CARR", "correct the"),
        ),
        ("403not your collection", ("403", "not your collection", "give the account the right")),
        ("500token-1 and s3cret:pass", ("500", "... and ...", "ask again")),
        ("302moved", ("with 302: moved",)),
    ],
)
def test_a_query_that_is_refused(server: Server, keys: pki.Pki, refused: str, parts: tuple[str, ...]) -> None:
    """What the server says is shown, with a remedy, and without password and token where it repeats them."""
    server.refused = refused
    source = client(server, keys)
    with pytest.raises(CatalogueError) as error:
        source.ask("select 1")
    assert [part for part in parts if part not in str(error.value)] == [], str(error.value)
    assert PASSWORD not in str(error.value) + repr(source)
    assert "token-1" not in str(error.value) + repr(source)


def test_a_wrong_password(server: Server, keys: pki.Pki, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An account that is refused is named, its password is not; a .netrc changes neither account nor token."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine localhost login other password other\n")
    monkeypatch.setenv("NETRC", str(netrc))
    assert client(server, keys).ask("select 1") == [("1",)]
    with pytest.raises(CatalogueError, match="refuses the account 'sdadmin'; correct") as error:
        client(server, keys, password="wr0ng").ask("select 1")
    assert "wr0ng" not in str(error.value)


def test_certificates_are_verified(server: Server, keys: pki.Pki, tmp_path: Path) -> None:
    """Nothing is sent to a host whose certificate another CA has signed, and a CA's file must exist."""
    other = pki.create(tmp_path / "other", "other")
    for ca in (other.ca, None):
        with pytest.raises(CatalogueError, match="certificate is not trusted, or is another host's; give its CA"):
            client(server, keys, ca=ca).ask("select 1")
    assert server.calls == []
    with pytest.raises(CatalogueError, match="gone: is no file; name the certificate"):
        client(server, keys, ca=tmp_path / "gone")


def test_a_host_that_is_not_there(keys: pki.Pki) -> None:
    """A host that refuses connections is an error with its name and the kind of the failure."""
    with pytest.raises(CatalogueError, match=r"localhost:1 cannot be reached \(ConnectionError\)"):
        Discover("localhost:1", USER, PASSWORD, ca=keys.ca).ask("select 1")
