"""The client of IBM Spectrum Discover, today Data Cataloging of IBM Fusion: SQL over REST, as a catalogue.

It is here and not in `toolkit/datasets/`, which reaches no network. Paths, headers and statuses are those of IBM's
documentation of Fusion's Data Cataloging.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.auth import AuthBase

from core.datasets.catalogue import CatalogueError
from toolkit.datasets import query_results

TOKEN, QUERY, LONG_QUERY = "/auth/v1/token", "/db2whrest/v1/sql_query", "/db2whrest/v1/sql_query_async"
_TOKEN_HEADER = "X-Auth-Token"  # noqa: S105 - its name
_SECONDS = 60.0
"""Until an answer; the server hands longer queries to its queue."""
_PAUSES = (1.0, 2.0, 4.0, 8.0)
"""Seconds between looks at a long query; the last one is repeated."""
_TIMED_OUT = (408, 504)
_SHOWN = 200


class _Bearer(AuthBase):
    """The token; as `auth` of a request, so that no entry of a .netrc takes its place."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


@dataclass
class Discover:
    """A console of Spectrum Discover, which answers `ask` of `core.datasets.catalogue.Catalogue`.

    Certificates are always verified. Neither password nor token is in any message.
    """

    host: str
    """Name of the console, with a port where it is not 443."""
    user: str
    """Also with a domain, as domain/user."""
    password: str = field(repr=False)
    ca: Path | None = None
    """File with the certificate of its CA; None: one that the machine trusts."""
    longest: float = 3600.0
    """Seconds that a long query may take."""
    sleep: Callable[[float], None] = time.sleep
    _token: str = field(default="", repr=False, init=False)
    _session: requests.Session = field(default_factory=requests.Session, repr=False, init=False)

    def __post_init__(self) -> None:
        if self.ca is not None and not self.ca.is_file():
            raise CatalogueError(f"{self.ca} does not exist; name the certificate of the CA of {self.host}")

    def ask(self, sql: str) -> list[tuple[str, ...]]:
        """Return the rows of a SELECT; raise CatalogueError where the server refuses it or cannot be reached.

        A query that takes too long is asked again through the server's queue, and waited for.
        """
        try:
            answer = self._authorized("POST", QUERY, sql)
        except requests.Timeout:
            answer = None
        if answer is None or answer.status_code in _TIMED_OUT:
            answer = self._authorized_or_explained("POST", LONG_QUERY, sql)
        return self._rows(self._finished(answer))

    def _finished(self, answer: requests.Response) -> requests.Response:
        """Return the answer of a query in the queue once it is there; any other at once."""
        waited, looks, place = 0.0, 0, ""
        while answer.status_code == requests.codes.accepted or (place and _is_waiting(answer)):
            place = _path(answer.headers.get("Location", "")) or place
            if not place:
                raise CatalogueError(f"{self.host} has queued a query and does not say where; ask again")
            if waited >= self.longest:
                raise CatalogueError(
                    f"{self.host}: a query is not finished after {self.longest:g} s; ask for fewer frames or classes"
                )
            pause = _PAUSES[min(looks, len(_PAUSES) - 1)]
            self.sleep(pause)
            waited, looks = waited + pause, looks + 1
            answer = self._authorized_or_explained("GET", place)
        return answer

    def _rows(self, answer: requests.Response) -> list[tuple[str, ...]]:
        if answer.status_code != requests.codes.ok:
            path = urlsplit(answer.url).path
            raise CatalogueError(
                f"{self.host} answers {path} with {answer.status_code}: {self._hidden(answer.text)[:_SHOWN].strip()}; "
                + _remedy(answer.status_code)
            )
        answer.encoding = "utf-8"
        is_json = "json" in answer.headers.get("Content-Type", "") or answer.text.lstrip()[:1] in ("[", "{")
        try:
            return query_results.from_json(answer.text) if is_json else query_results.from_csv(answer.text)
        except CatalogueError as error:
            raise CatalogueError(f"{self.host}: {self._hidden(str(error))}") from None

    def _authorized_or_explained(self, method: str, path: str, body: str | None = None) -> requests.Response:
        try:
            return self._authorized(method, path, body)
        except requests.Timeout:
            raise self._unreachable(f"no answer within {_SECONDS:g} s") from None

    def _authorized(self, method: str, path: str, body: str | None = None) -> requests.Response:
        """Send a request with the token, and once again with a new one where that has expired."""
        if self._token:
            answer = self._send(method, path, _Bearer(self._token), body)
            if answer.status_code != requests.codes.unauthorized:
                return answer
        self._token = self._new_token()
        answer = self._send(method, path, _Bearer(self._token), body)
        if answer.status_code == requests.codes.unauthorized:
            raise CatalogueError(
                f"{self.host} refuses {path} with 401 for a token that it has just given; check its logs"
            )
        return answer

    def _new_token(self) -> str:
        try:
            answer = self._send("GET", TOKEN, (self.user, self.password))
        except requests.Timeout:
            raise self._unreachable(f"no answer within {_SECONDS:g} s") from None
        if answer.status_code in (requests.codes.unauthorized, requests.codes.forbidden):
            raise CatalogueError(f"{self.host} refuses the account {self.user!r}; correct its name or its password")
        token = answer.headers.get(_TOKEN_HEADER, "")
        if answer.status_code != requests.codes.ok or not token:
            raise CatalogueError(
                f"{self.host} answers {TOKEN} with {answer.status_code} and no {_TOKEN_HEADER}; name the host of the "
                "console of Spectrum Discover"
            )
        return token

    def _send(
        self, method: str, path: str, auth: AuthBase | tuple[str, str], body: str | None = None
    ) -> requests.Response:
        """Send one request; raise requests.Timeout, or CatalogueError where the server cannot be reached."""
        try:
            return self._session.request(
                method,
                f"https://{self.host}{path}",
                data=None if body is None else body.encode(),
                headers={"Accept": "application/json"}  # it has names with commas, quotes and newlines as they are
                | ({} if body is None else {"Content-Type": "text/plain; charset=utf-8"}),
                auth=auth,
                verify=True if self.ca is None else str(self.ca),
                timeout=_SECONDS,
                allow_redirects=False,  # the token is for this host alone
            )
        except requests.Timeout:
            raise
        except requests.exceptions.SSLError:
            raise CatalogueError(
                f"{self.host}: its certificate is not trusted, or is another host's; give its CA's certificate as `ca`"
            ) from None
        except requests.RequestException as error:
            raise self._unreachable(type(error).__name__) from None

    def _unreachable(self, why: str) -> CatalogueError:
        return CatalogueError(f"{self.host} cannot be reached ({why}); see whether this machine may, and ask again")

    def _hidden(self, text: str) -> str:
        """Return a server's text without the secrets, which some proxies repeat."""
        for secret in (self.password, self._token):
            text = text.replace(secret, "...") if secret else text
        return text


def _remedy(status: int) -> str:
    if status == requests.codes.forbidden:
        return "give the account the right to these data"
    return "ask again, or see the logs there" if status >= requests.codes.server_error else "correct the query"


def _path(location: str) -> str:
    """Return path and query of a Location: the host behind a proxy may be another, and the token is not for that."""
    parts = urlsplit(location)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _is_waiting(answer: requests.Response) -> bool:
    """Return whether a task's answer is its state and no result; which states there are, IBM does not document."""
    try:
        content: Any = json.loads(answer.text)
    except ValueError:
        return False
    state = str(content.get("status", "")).lower() if isinstance(content, dict) else ""
    return any(word in state for word in ("scheduled", "pending", "queued", "running", "progress"))
