"""The REST interface of the simulated Spectrum Discover, as IBM documents it."""

import json
import sqlite3
from pathlib import Path

import pytest
from werkzeug.test import Client, TestResponse
from werkzeug.wrappers import Request

from toolkit.simulator.access.accounts import Account
from toolkit.simulator.discover.database import Database
from toolkit.simulator.discover.service import QUERY, Service, Tokens

ROWS = (("k0", "a2d2/", "one, two.png", "11"), ("k1", "a2d2/", "three.png", "0"))


class Caller:
    """A client with a token of a service, whose clock it can set."""

    def __init__(self, path: Path) -> None:
        self.now = 0.0
        self.service = Service(Database(path), Account("hpc", "secret"), Tokens(60.0, lambda: self.now))
        self.client = Client(Request.application(self.service.respond))
        given = self.client.get("/auth/v1/token", auth=("hpc", "secret"))
        self.headers = {"Authorization": f"Bearer {given.headers['X-Auth-Token']}"}

    def sql(self, sql: str, path: str = QUERY, accept: str = "") -> TestResponse:
        """Ask a query."""
        return self.client.post(path, data=sql, headers=self.headers | ({"Accept": accept} if accept else {}))

    def get(self, path: str) -> TestResponse:
        """Read something else."""
        return self.client.get(path, headers=self.headers)


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    """Give a service with two files, one of which shows a car."""
    path = tmp_path / "catalogue.sqlite"
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE metaocean (fkey, path, filename); CREATE TABLE t_car (fkey, value);"
        "CREATE VIEW metaocean_view AS"
        " SELECT metaocean.*, CAST(value AS INTEGER) AS car FROM metaocean JOIN t_car USING (fkey);"
    )
    for key, folder, name, cars in ROWS:
        database.execute("INSERT INTO metaocean VALUES (?, ?, ?)", (key, folder, name))
        database.execute("INSERT INTO t_car VALUES (?, ?)", (key, cars))
    database.commit()
    database.close()
    return Caller(path)


def test_rows_are_csv_with_a_running_number(caller: Caller) -> None:
    """There is no header, the first column counts from 0, texts are in quotes, and Db2's isolation clause is taken."""
    answer = caller.sql("select filename, int(value) from metaocean join t_car using (fkey) order by fkey with ur;")
    assert answer.text == '0,"one, two.png",11.0\n1,"three.png",0.0\n'
    assert (answer.mimetype, answer.headers["X-Simulated-By"]) == ("text/csv", "hpc")


def test_rows_are_json_where_it_is_accepted(caller: Caller) -> None:
    """Columns have lower-case names."""
    answer = caller.sql("select FILENAME from metaocean where fkey = 'k1'", accept="application/json")
    assert answer.json == [{"filename": "three.png"}]


def test_a_query_in_the_url(caller: Caller) -> None:
    """The query may be the URL's, encoded."""
    assert caller.get(f"{QUERY}?select+count(*)+from+metaocean").text == "0,2\n"


def test_a_queued_query_is_at_its_location(caller: Caller) -> None:
    """It is accepted, runs for some looks, and answers once."""
    queued = caller.sql("select count(*) from metaocean", f"{QUERY}_async")
    assert (queued.status_code, queued.json) == (202, {"status": "work scheduled"})
    place = queued.headers["Location"]
    assert [caller.get(place).status_code for _ in range(4)] == [202, 202, 200, 404]


def test_search_answers_json_within_json(caller: Caller) -> None:
    """A condition over the wide view; tags are columns of it."""
    answer = caller.client.post("/db2whrest/v1/search", json={"query": "car>=10", "limit": 5}, headers=caller.headers)
    assert answer.json is not None
    assert (answer.json["count"], answer.json["table"]) == (1, "metaocean_view")
    assert json.loads(answer.json["rows"]) == [{"fkey": "k0", "path": "a2d2/", "filename": "one, two.png", "car": 11}]
    assert caller.client.post("/db2whrest/v1/search", json={"query": 1}, headers=caller.headers).status_code == 400


def test_tags_and_scans(caller: Caller, tmp_path: Path) -> None:
    """A tag with a table is of type Characteristics; a scan has not run where there is no catalogue."""
    assert caller.get("/policyengine/v1/tags").json == [{"tag": "car", "type": "Characteristics", "value": []}]
    assert caller.get("/policyengine/v1/tags/car").status_code == 200
    assert caller.get("/policyengine/v1/tags/boat").status_code == 404
    assert (caller.get("/connmgr/v1/scan").json or [{}])[0]["status"] == "Complete"
    empty = Caller(tmp_path / "none.sqlite")
    assert (empty.get("/connmgr/v1/scan").json or [{}])[0]["status"] == "Never scanned"
    assert empty.get("/policyengine/v1/tags").json == []
    assert "nothing has been scanned" in empty.sql("select 1").text


@pytest.mark.parametrize(
    "sql", ["delete from metaocean", "attach 'x' as y", "select load_extension('x')", "pragma user_version", "create"]
)
def test_nothing_but_reading(caller: Caller, sql: str) -> None:
    """Whatever is not a SELECT is refused, and changes nothing."""
    answer = caller.sql(sql)
    assert (answer.status_code, "SQL error" in answer.text) == (400, True)
    assert caller.sql("select count(*) from metaocean").text == "0,2\n"


def test_tokens(caller: Caller) -> None:
    """A wrong password has none, and one that has expired is refused, as is a request without."""
    assert caller.client.get("/auth/v1/token", auth=("hpc", "guess")).status_code == 401
    assert caller.client.get(QUERY).status_code == 401
    caller.now = 61.0
    assert caller.sql("select 1").status_code == 401
