"""The rule: the comment that begins with our hidden marker and is our own is edited; else there is a new one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote


@dataclass(frozen=True)
class Comment:
    """One comment; `author` is whatever the host knows people by."""

    id: int
    author: str
    body: str


class Thread(Protocol):
    """The comments of one pull request."""

    limit: int
    """Characters that a comment may have."""

    def me(self) -> str:
        """Return the author that our token writes as."""

    def comments(self) -> Iterable[Comment]:
        """Yield all comments, oldest first."""

    def create(self, body: str) -> str:
        """Add a comment and return its address."""

    def edit(self, comment: int, body: str) -> str:
        """Replace a comment's text and return its address."""


def marker(body: str) -> str:
    """Return the hidden first line by which a comment is found again; empty where there is none."""
    first = body.partition("\n")[0].strip()
    return first if first.startswith("<!--") and first.endswith("-->") else ""


def publish(thread: Thread, body: str) -> tuple[str, str]:
    """Write `body` where it belongs; return what was done (created, edited, unchanged) and where it is.

    A comment of another owner is never touched, whatever it begins with.
    """
    mine, sign = thread.me(), marker(body)
    for comment in thread.comments():
        # Hosts change line ends, and drop blanks at the end.
        if comment.author != mine or marker(comment.body) != sign:
            continue
        if comment.body.replace("\r\n", "\n").strip() == body.strip():
            return "unchanged", ""
        return "edited", thread.edit(comment.id, body)
    return "created", thread.create(body)


def whole_file(comment: Path) -> Path:
    """Return the file of the whole review: `dev.whole.md` beside `dev.md`."""
    return comment.with_name(f"{comment.stem}.whole{comment.suffix}")


def whole_sentence(comment: Path, environment: Mapping[str, str]) -> str:
    """Return where the whole review is, in Markdown, for a comment that was shortened; empty for another."""
    whole = whole_file(comment)
    if not whole.is_file():
        return ""
    address = _artefact(whole, environment)
    job = f"[this job]({address})" if address else "the job that wrote this"
    return f"\nThe whole review is `{whole.name}`, an artefact of {job}.\n"


def _artefact(whole: Path, environment: Mapping[str, str]) -> str:
    """Return the page of the job's artefacts, on the server that the job's host names; empty outside of a job."""
    if environment.get("GITHUB_ACTIONS") == "true":
        server, repository, run = (environment.get(f"GITHUB_{key}") for key in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
        return f"{server}/{repository}/actions/runs/{run}#artifacts" if server and repository and run else ""
    job, project = environment.get("CI_JOB_URL"), environment.get("CI_PROJECT_DIR")
    if environment.get("GITLAB_CI") != "true" or not job:
        return ""
    path = whole.resolve()
    if project and path.is_relative_to(Path(project).resolve()):
        return f"{job}/artifacts/file/{quote(str(path.relative_to(Path(project).resolve())))}"
    return f"{job}/artifacts/browse"
