"""The client of Spectrum Discover, over real HTTPS to a server of the test's own with a real catalogue behind it."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.wrappers import Request, Response

from core.datasets.catalogue import CatalogueError, as_of
from tests.support.catalogues import generated_catalogue
from tests.support.http_server import as_json, serving
from tests.support.printed_queries import BICYCLES, PRINTED_BICYCLES, PRINTED_WINDOW, WINDOW, printed
from toolkit.cli.data import discover
from toolkit.cli.data.discover import Discover
from toolkit.datasets.shares import shares
from toolkit.datasets.sqlite_catalogue import SqliteCatalogue
from toolkit.simulator.access import pki

USER, PASSWORD = "sdadmin", "s3cret:pass"


class Server:
    """A console with one account; the fields say how it behaves, and `calls` what it was asked."""

    def __init__(self, catalogue: Path) -> None:
        self.host = ""
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

    def respond(self, request: Request) -> Response:
        """Answer a request."""
        sql = request.get_data(as_text=True)
        self.calls.append((request.method, request.full_path.rstrip("?"), sql))
        given = request.headers["Authorization"]
        if request.path == discover.TOKEN:
            if given != "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode():
                return Response("no", 401)
            self.tokens, self.used = self.tokens + 1, 0
            return Response(headers={"x-auth-token": f"token-{self.tokens}"})
        self.used += 1
        if given != f"Bearer token-{self.tokens}" or self.used > self.valid:
            return Response("expired", 401)
        return self._task(request) if request.method == "GET" else self._query(request, sql)

    def _task(self, request: Request) -> Response:
        if self.queued > 0:
            self.queued -= 1
            return as_json({"status": "work scheduled"})
        return self._rows(request, self.tasks[-1])

    def _query(self, request: Request, sql: str) -> Response:
        if self.refused:
            away = {"Location": "https://elsewhere.example.com/"}
            return Response(self.refused[3:], int(self.refused[:3]), headers=away)
        if request.path == discover.QUERY and self.sync_status != 200:
            return Response("upstream timed out", self.sync_status)
        if request.path == discover.LONG_QUERY:
            self.tasks.append(sql)
            answer = as_json({"status": "work scheduled"}, 202)
            answer.autocorrect_location_header = False
            answer.headers["Location"] = self.location
            return answer
        return self._rows(request, sql)

    def _rows(self, request: Request, sql: str) -> Response:
        rows = SqliteCatalogue(self.catalogue).ask(sql)
        if self.as_json and request.headers["Accept"] == "application/json":
            return as_json([dict(enumerate(row)) for row in rows])
        sign = '"' if self.quotes else ""
        lines = [",".join([str(n), *(f"{sign}{value}{sign}" for value in row)]) for n, row in enumerate(rows)]
        return Response("\n".join(lines), content_type="text/csv")


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
    console = Server(catalogue)
    with serving(console.respond, keys) as port:
        console.host = f"localhost:{port}"
        yield console


def client(server: Server, keys: pki.Pki, **changes: Any) -> Discover:
    """Return a client of a console."""
    fields: dict[str, Any] = {"password": PASSWORD, "ca": keys.ca, "sleep": lambda _: None}
    return Discover(server.host, USER, **fields | changes)


@pytest.mark.parametrize(("quotes", "as_json"), [(True, False), (False, False), (True, True)])
def test_the_printed_queries(server: Server, keys: pki.Pki, quotes: bool, as_json: bool) -> None:
    """The Redpaper's queries give their printed rows, by CSV with and without quotes, and by JSON."""
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
    with pytest.raises(CatalogueError, match="gone does not exist; name the certificate"):
        client(server, keys, ca=tmp_path / "gone")


def test_a_host_that_is_not_there(keys: pki.Pki) -> None:
    """A host that refuses connections is an error with its name and the kind of the failure."""
    with pytest.raises(CatalogueError, match=r"localhost:1 cannot be reached \(ConnectionError\)"):
        Discover("localhost:1", USER, PASSWORD, ca=keys.ca).ask("select 1")
