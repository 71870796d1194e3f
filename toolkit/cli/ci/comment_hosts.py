"""Threads of GitHub and GitLab, by what their runners put into the environment."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

from toolkit.cli.ci.comment_thread import Comment, Thread
from toolkit.cli.shared.errors import Problem

_TIMEOUT = 20.0  # seconds
_PAGE = 100
_SHOWN = 200  # characters of an answer in a message
_RETRIES = Retry(total=3, connect=1, backoff_factor=0.5, status_forcelist=(429, 502, 503, 504), allowed_methods=["GET"])


class ForbiddenError(Problem):
    """The token may read, and not write: so it is for pull requests of forks."""


@dataclass
class _Http:
    """JSON over HTTP, with the token in one header; errors never show it."""

    base: str
    headers: Mapping[str, str]
    _session: requests.Session = field(default_factory=requests.Session)

    def __post_init__(self) -> None:
        self._session.headers.update(self.headers)
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=_RETRIES))

    def ask(self, method: str, path: str, body: Any = None, *, none_on: tuple[int, ...] = ()) -> Any:
        """Send one request and return the answer; None for the statuses in `none_on`."""
        try:
            answer = self._session.request(method, f"{self.base}{path}", json=body, timeout=_TIMEOUT)
        except requests.RequestException as error:
            raise Problem(
                f"{self.base} does not answer: {type(error).__name__}", "See whether it can be reached from here."
            ) from None
        if answer.status_code in none_on:
            return None
        if not answer.ok:
            kind = ForbiddenError if answer.status_code in (401, 403) else Problem
            raise kind(
                f"{method} {path} is answered with {answer.status_code}: {self._hidden(_message(answer))[:_SHOWN]}",
                "The token needs the right to write comments on pull requests.",
            )
        try:
            return answer.json()
        except ValueError:
            raise Problem(
                f"{self.base} answers {path} with something that is not JSON", "See whether this is the API's address."
            ) from None

    def _hidden(self, text: str) -> str:
        """Return a text without the token: some proxies repeat the request in their answer."""
        for value in self.headers.values():
            token = value.rpartition(" ")[2]
            text = text.replace(token, "...")
        return text

    def pages(self, path: str) -> Iterator[Any]:
        """Yield the entries of all pages."""
        number = 1
        while entries := self.ask("GET", f"{path}{'&' if '?' in path else '?'}per_page={_PAGE}&page={number}"):
            yield from entries
            if len(entries) < _PAGE:
                return
            number += 1


@dataclass
class GitHub:
    """Comments of a pull request on GitHub."""

    http: _Http
    repository: str
    number: int
    limit: int = 65_536

    def me(self) -> str:
        """Return the login: tokens of a workflow cannot ask for it, and write as one known bot."""
        user = self.http.ask("GET", "/user", none_on=(401, 403))
        return str(user["login"]) if user else "github-actions[bot]"

    def comments(self) -> Iterator[Comment]:
        """Yield all comments."""
        for entry in self.http.pages(f"/repos/{self.repository}/issues/{self.number}/comments"):
            yield Comment(entry["id"], (entry.get("user") or {}).get("login") or "", entry.get("body") or "")

    def create(self, body: str) -> str:
        """Add a comment."""
        path = f"/repos/{self.repository}/issues/{self.number}/comments"
        return str(self.http.ask("POST", path, {"body": body})["html_url"])

    def edit(self, comment: int, body: str) -> str:
        """Replace a comment's text."""
        path = f"/repos/{self.repository}/issues/comments/{comment}"
        return str(self.http.ask("PATCH", path, {"body": body})["html_url"])


@dataclass
class GitLab:
    """Notes of a merge request on GitLab."""

    http: _Http
    project: str
    number: int
    limit: int = 1_000_000

    def me(self) -> str:
        """Return the user name."""
        return str(self.http.ask("GET", "/user")["username"])

    def comments(self) -> Iterator[Comment]:
        """Yield all notes of people, not the system's."""
        for entry in self.http.pages(f"{self._notes}?sort=asc"):
            if not entry.get("system"):
                yield Comment(entry["id"], (entry.get("author") or {}).get("username") or "", entry.get("body") or "")

    def create(self, body: str) -> str:
        """Add a note."""
        return f"note {self.http.ask('POST', self._notes, {'body': body})['id']}"

    def edit(self, comment: int, body: str) -> str:
        """Replace a note's text."""
        return f"note {self.http.ask('PUT', f'{self._notes}/{comment}', {'body': body})['id']}"

    @property
    def _notes(self) -> str:
        return f"/projects/{self.project}/merge_requests/{self.number}/notes"


def thread(environment: Mapping[str, str]) -> Thread | None:
    """Return the thread of the pull request that a job runs for; None outside of one, Problem without a token."""
    if environment.get("GITHUB_ACTIONS") == "true":
        number = _pull_request(environment)
        if number is None:
            return None
        token = _token(environment, "GITHUB_TOKEN")
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        base = environment.get("GITHUB_API_URL", "https://api.github.com")
        return GitHub(_Http(base, headers), environment["GITHUB_REPOSITORY"], number)
    if environment.get("GITLAB_CI") == "true":
        if not environment.get("CI_MERGE_REQUEST_IID"):
            return None
        headers = {"PRIVATE-TOKEN": _token(environment, "HPC_GITLAB_TOKEN")}
        http = _Http(environment["CI_API_V4_URL"], headers)
        return GitLab(
            http,
            environment.get("CI_MERGE_REQUEST_PROJECT_ID") or environment["CI_PROJECT_ID"],
            int(environment["CI_MERGE_REQUEST_IID"]),
        )
    return None


def _token(environment: Mapping[str, str], name: str) -> str:
    token = environment.get(name)
    if not token:
        raise ForbiddenError(
            f"{name} is not set",
            "Give the job a token that may comment on pull requests (docs/guide/operations.md says which).",
        )
    return token


def _pull_request(environment: Mapping[str, str]) -> int | None:
    path = environment.get("GITHUB_EVENT_PATH")
    try:
        event = json.loads(Path(path).read_text()) if path else {}
    except (OSError, ValueError):
        return None
    number = (event.get("pull_request") or {}).get("number")
    return int(number) if number else None


def _message(answer: requests.Response) -> str:
    try:
        body = answer.json()
    except ValueError:
        return answer.reason
    return str(body.get("message") or body.get("error") or answer.reason) if isinstance(body, dict) else ""
