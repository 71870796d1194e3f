"""The REST interface: tokens, SQL at once and through a queue, search, tags and scans.

Paths, headers, statuses and shapes are those of IBM's documentation of Fusion's Data Cataloging, and of published
clients. What a queued query answers while it runs is not documented: here it is 202 with the state.
"""

import csv
import io
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import unquote_plus

from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.wrappers import Request, Response

from toolkit.simulator.access import accounts
from toolkit.simulator.access.accounts import Account
from toolkit.simulator.discover.database import WIDE_VIEW, Answer, Database, QueryError
from toolkit.simulator.processes import https_server

_BYTES = 24
TOKEN_HEADER = "X-Auth-Token"  # noqa: S105 - its name
QUERY = "/db2whrest/v1/sql_query"
TASKS = "/db2whrest/v1/task_status/"
CONNECTION = "files"
_LIMIT = 100_000
_ROUTES = Map(
    [
        Rule("/auth/v1/token", endpoint="token", methods=["GET"]),
        Rule(QUERY, endpoint="query", methods=["GET", "POST"]),
        Rule(f"{QUERY}_async", endpoint="queue", methods=["POST"]),
        Rule(f"{TASKS}<task>", endpoint="task", methods=["GET"]),
        Rule("/db2whrest/v1/search", endpoint="search", methods=["POST"]),
        Rule("/policyengine/v1/tags", endpoint="tags", methods=["GET"]),
        Rule("/policyengine/v1/tags/<tag>", endpoint="tag", methods=["GET"]),
        Rule("/connmgr/v1/scan", endpoint="scans", methods=["GET"]),
    ]
)
TOKEN_SECONDS = 3600.0


@dataclass
class Tokens:
    """Tokens in memory, each valid for some seconds: after a restart clients take a new one, as with the real one."""

    seconds: float
    clock: Callable[[], float] = time.monotonic
    _ends: dict[str, float] = field(default_factory=dict, repr=False)

    def give(self) -> str:
        """Return a new token."""
        now = self.clock()
        self._ends = {token: end for token, end in self._ends.items() if end > now}
        token = secrets.token_urlsafe(_BYTES)
        self._ends[token] = now + self.seconds
        return token

    def valid(self, token: str) -> bool:
        """Return whether a token has been given and has not expired."""
        return self._ends.get(token, float("-inf")) > self.clock()


@dataclass
class Task:
    """A query in the queue: how often it is still running when a client asks, and what it will answer."""

    looks: int
    response: Response


@dataclass
class Service:
    """The WSGI application."""

    database: Database
    account: Account
    tokens: Tokens
    looks: int = 2
    """How often a queued query is still running."""
    _tasks: dict[str, Task] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def respond(self, request: Request) -> Response:
        """Answer a request."""
        try:
            endpoint, values = _ROUTES.bind_to_environ(request.environ).match()
            response = self._answer(request, endpoint, values)
        except QueryError as error:
            response = _message(HTTPStatus.BAD_REQUEST, f"SQL error: {error}")
        except HTTPException as error:
            response = _message(HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR), error.name)
        response.headers["X-Simulated-By"] = "hpc"
        return response

    def _answer(self, request: Request, endpoint: str, values: Mapping[str, Any]) -> Response:
        if endpoint == "token":
            return self._token(request)
        authorization = request.authorization
        if authorization is None or authorization.type != "bearer" or not self.tokens.valid(authorization.token or ""):
            return _message(HTTPStatus.UNAUTHORIZED, "the token is missing or has expired")
        handlers: Mapping[str, Callable[..., Response]] = {
            "query": self._query,
            "queue": self._queued,
            "task": self._task,
            "search": self._search,
            "tags": self._tags,
            "tag": self._tag,
            "scans": self._scans,
        }
        return handlers[endpoint](request, **values)

    def _query(self, request: Request) -> Response:
        sql = request.get_data(as_text=True) or unquote_plus(request.query_string.decode())
        return _table(self.database.select(sql), request)

    def _tags(self, _: Request) -> Response:
        return _json([_described(name) for name in self.database.tags()])

    def _tag(self, _: Request, tag: str) -> Response:
        exists = tag in self.database.tags()
        return _json(_described(tag)) if exists else _message(HTTPStatus.NOT_FOUND, f"there is no tag {tag}")

    def _scans(self, _: Request) -> Response:
        return _json([_scan(self.database)])

    def _token(self, request: Request) -> Response:
        credentials = request.authorization
        if credentials is None or not self.account.matches(credentials.username, credentials.password):
            return _message(HTTPStatus.UNAUTHORIZED, "wrong user or password")
        return Response(headers={TOKEN_HEADER: self.tokens.give()})

    def _queued(self, request: Request) -> Response:
        answer = _table(self.database.select(request.get_data(as_text=True)), request)
        name = secrets.token_hex(8)
        with self._lock:
            self._tasks[name] = Task(self.looks, answer)
        return _json({"status": "work scheduled"}, HTTPStatus.ACCEPTED, {"Location": f"{TASKS}{name}"})

    def _task(self, _: Request, task: str) -> Response:
        with self._lock:
            running = self._tasks.get(task)
            if running is None:
                return _message(HTTPStatus.NOT_FOUND, f"there is no task {task}")
            if running.looks:
                running.looks -= 1
                return _json({"status": "running"}, HTTPStatus.ACCEPTED)
            return self._tasks.pop(task).response

    def _search(self, request: Request) -> Response:
        content = request.get_json(force=True, silent=True)
        condition, limit = (content.get("query"), content.get("limit", _LIMIT)) if isinstance(content, dict) else (0, 0)
        if not isinstance(condition, str) or not isinstance(limit, int):
            return _message(HTTPStatus.BAD_REQUEST, "the body is not JSON object with a query and a whole limit")
        # The view is the database's own and the condition the caller's: the connection reads, whatever it is.
        selection = self.database.select(f"SELECT * FROM {WIDE_VIEW} WHERE {condition} LIMIT {limit}")  # noqa: S608
        rows = [dict(zip(selection.columns, row, strict=True)) for row in selection.rows]
        return _json(
            {
                "rows": json.dumps(rows),
                "facet_tree": {},
                "table": WIDE_VIEW,
                "query_time_secs": 0.0,
                "count": len(rows),
                "doc_count": len(rows),
            }
        )


def _table(answer: Answer, request: Request) -> Response:
    """Return rows as JSON where the client accepts it by name, else as CSV: a running number first, and no header."""
    if "application/json" in request.headers.get("Accept", ""):
        return _json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
    text = io.StringIO()
    # Texts are in quotes, as the Redpaper prints them.
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(
        (number, *row) for number, row in enumerate(answer.rows)
    )
    return Response(text.getvalue(), mimetype="text/csv")


def _described(name: str) -> dict[str, Any]:
    return {"tag": name, "type": "Characteristics", "value": []}


def _scan(database: Database) -> dict[str, Any]:
    done = database.path.is_file()
    return {
        "Name": CONNECTION,
        "status": "Complete" if done else "Never scanned",
        "message": "" if done else "write a catalogue to this file with ./hpc data index",
        "Phase": 3 if done else 0,
        "Total_phases": 3,
    }


def _json(content: Any, status: HTTPStatus = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(content), status, headers, mimetype="application/json")


def _message(status: HTTPStatus, text: str) -> Response:
    return _json({"message": text}, status)


def main() -> None:
    """Serve until the process is stopped."""
    parser = https_server.options()
    parser.add_argument("--catalogue", type=Path, required=True)
    parser.add_argument("--account", type=Path, required=True)
    options = parser.parse_args()
    options.catalogue.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    service = Service(Database(options.catalogue), accounts.create(options.account), Tokens(TOKEN_SECONDS))
    https_server.serve(service.respond, options, "Spectrum Discover", f"the catalogue {options.catalogue}")


if __name__ == "__main__":
    main()
