"""What a kubelet's configuration lets others do who reach its port: its fields, and the options of its unit."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from policies.manifests.values import Path, Tree, read

_OPEN_PORT = "serves the state of all its pods to whoever reaches its port {}"
_ANONYMOUS = "takes requests without credentials"
_ALL_ALLOWED = "lets whoever reaches it run commands in all its pods"
_OPTIONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"--anonymous-auth(?:[= ]true)?(?=[\s\"'\\]|$)", re.MULTILINE), _ANONYMOUS),
    (re.compile(r"--authorization-mode[= ][\"']?AlwaysAllow\b"), _ALL_ALLOWED),
)
_FIELDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\banonymous[\"']?\s*:\s*\{?\s*[\"']?enabled[\"']?\s*:\s*true\b"), _ANONYMOUS),
    (re.compile(r"\bmode[\"']?\s*:\s*[\"']?AlwaysAllow\b"), _ALL_ALLOWED),
)
_READ_ONLY = re.compile(r"\breadOnlyPort[\"']?\s*:\s*([1-9]\d{0,4})\b")
_PORT = re.compile(r"--read-only-port[= ][\"']?([1-9]\d{0,4})\b")


class Opening(NamedTuple):
    """What a kubelet allows, as the end of a sentence, and the field that allows it."""

    what: str
    path: Path


def field_openings(settings: Tree) -> Iterator[Opening]:
    """Yield what the fields of a KubeletConfiguration allow."""
    if read(settings, "authentication", "anonymous", "enabled") is True:
        yield Opening(_ANONYMOUS, ("authentication", "anonymous", "enabled"))
    if read(settings, "authorization", "mode") == "AlwaysAllow":
        yield Opening(_ALL_ALLOWED, ("authorization", "mode"))
    port = read(settings, "readOnlyPort")
    if isinstance(port, int) and port > 0:
        yield Opening(_OPEN_PORT.format(port), ("readOnlyPort",))


def file_openings(text: str) -> Iterator[str]:
    """Yield what a file of the kubelet's allows, in YAML or JSON, whatever its form; no alias of it is followed."""
    yield from (effect for pattern, effect in _FIELDS if pattern.search(text))
    if port := _READ_ONLY.search(text):
        yield _OPEN_PORT.format(port[1])


def option_openings(text: str) -> Iterator[str]:
    """Yield what options on a command line allow."""
    yield from (effect for pattern, effect in _OPTIONS if pattern.search(text))
    if port := _PORT.search(text):
        yield _OPEN_PORT.format(port[1])
