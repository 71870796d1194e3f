"""What the rules report, without the secrets in it: messages end in logs."""

import base64
import binascii
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from core.apis.kinds import SECRET
from core.pulumi_values import REDACTED
from policies.manifests.objects import Obj
from policies.manifests.pod_specs import role_of
from policies.manifests.values import Path, Tree, show


class Severity(StrEnum):
    """What a finding does: a mandatory one ends the update, an advisory one is shown."""

    MANDATORY = "mandatory"
    ADVISORY = "advisory"


class Undetermined(StrEnum):
    """Why a finding is undetermined; each reason has a severity of its own."""

    VALUE = "unverified-value"
    """A value is unknown until the update."""
    LINK = "unverified-link"
    """The object at the other end of a link is not among the given ones."""


class Finding(NamedTuple):
    """One violation of a rule by one object, or an undetermined one.

    `path` is where the offending field is in the object, or would be; `container` is empty when it is not about
    a container; `origin` is what the caller gave with the object to find it again: a URN, a place in a file.
    """

    rule: str
    severity: Severity
    object: str
    message: str
    remedy: str
    path: Path = ()
    container: str = ""
    undetermined: Undetermined | None = None
    origin: Any = None

    @property
    def place(self) -> str:
        """Where it is: object, container and field."""
        parts = (self.object, f"container {self.container}" if self.container else "", show(self.path))
        return ", ".join(part for part in parts if part)

    @property
    def subject(self) -> str:
        """What it is about, in short: `MPIJob adas/train, Worker, nccl`, the latter two only where there are any."""
        return ", ".join(part for part in (self.object, role_of(self.path), self.container) if part)

    def __str__(self) -> str:
        """Return the finding on one line: rule, where, what is wrong, what to do."""
        return f"{self.rule}: {self.place}: {self.message}. {self.remedy}"


_SHORTEST = 4  # characters; taking out shorter ones would make messages unreadable and hide nothing


def secret_texts(subjects: Iterable[Obj], marked: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what no message may show, the longest first.

    That is what is `marked` as secret, and all values of the Secrets among `subjects`, encoded and decoded.
    """
    values = {
        text
        for subject in subjects
        if (subject.group, subject.kind) == (SECRET.group, SECRET.kind)
        for field in ("data", "stringData")
        for text in texts(subject.tree.get(field))
    }
    hidden = {*marked, *values, *map(_decoded, values)}
    return tuple(sorted((text for text in hidden if len(text) >= _SHORTEST), key=lambda text: (-len(text), text)))


def redact(finding: Finding, secret: Iterable[str]) -> Finding:
    """Return the finding with each of the `secret` texts taken out of its message and its remedy."""
    message, remedy = finding.message, finding.remedy
    for text in secret:
        message, remedy = message.replace(text, REDACTED), remedy.replace(text, REDACTED)
    if (message, remedy) == (finding.message, finding.remedy):
        return finding
    return finding._replace(message=message, remedy=remedy)


def texts(tree: Tree) -> Iterator[str]:
    """Yield the strings and numbers of a tree as text."""
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            yield str(value)


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
