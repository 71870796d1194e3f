"""Removal of secrets from messages: engine and files have them as plain text, and messages end in logs."""

import base64
import binascii
from collections.abc import Iterable, Iterator

from core.apis.kinds import SECRET
from core.pulumi_values import REDACTED
from policies.findings import Finding
from policies.objects import Obj
from policies.values import Tree

_SHORTEST = 4  # characters; taking out shorter ones would make messages unreadable and hide nothing
_FIELDS = ("data", "stringData")


def secret_texts(subjects: Iterable[Obj], marked: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what no message may show, the longest first.

    That is what is `marked` as secret, and all values of the Secrets among `subjects`, encoded and decoded.
    """
    values = {
        text
        for subject in subjects
        if (subject.group, subject.kind) == (SECRET.group, SECRET.kind)
        for field in _FIELDS
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
