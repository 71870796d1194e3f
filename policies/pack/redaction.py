"""Keeps what a Secret holds out of messages: the engine hands secrets over as plain text, and messages end in logs."""

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import replace

from apis.kinds import SECRET
from policies.findings import Finding
from policies.objects import Obj
from policies.values import Tree

HIDDEN = "[secret]"
_SHORTEST = 4  # characters; taking out shorter ones would make messages unreadable and hide nothing
_FIELDS = ("data", "stringData")


def texts(subjects: Iterable[Obj]) -> tuple[str, ...]:
    """Return all values of the Secrets among `subjects`, encoded and decoded, the longest first."""
    found = {
        text
        for subject in subjects
        if (subject.group, subject.kind) == (SECRET.group, SECRET.kind)
        for field in _FIELDS
        for value in _leaves(subject.tree.get(field))
        for text in (value, _decoded(value))
        if len(text) >= _SHORTEST
    }
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def redact(finding: Finding, secret: Iterable[str]) -> Finding:
    """Return the finding with each of the `secret` texts taken out of its message."""
    message = finding.message
    for text in secret:
        message = message.replace(text, HIDDEN)
    return finding if message == finding.message else replace(finding, message=message)


def _leaves(tree: Tree) -> Iterator[str]:
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
