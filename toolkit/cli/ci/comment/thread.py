"""The rule: the comment that begins with our hidden marker and is our own is edited; else there is a new one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


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
