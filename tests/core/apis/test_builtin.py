"""The table of Kubernetes' own kinds."""

import re
from pathlib import Path

from kubernetes import client

from core.apis.builtin import BUILTIN, LIVES, STABLE
from core.apis.kinds import KINDS

_NO_OBJECTS = frozenset({"APIResource", "DeleteOptions", "Status", "Eviction", "Scale", "TokenRequest"})
_LIST = re.compile(r"(?:[A-Z][a-z]+)?V\d+(?:(?:alpha|beta)\d+)?([A-Z]\w+)List")
_LATER = frozenset({"lifecycle.k8s.io", "internal.apiserver.k8s.io"})
"""Groups of releases that are not out, and the API server's own."""


def test_every_kind_of_the_client_is_known() -> None:
    """A kind of Kubernetes that is refused as a misspelt one."""
    missing: set[str] = set()
    for path in (Path(client.__file__).parent / "api").glob("*_v*_api.py"):
        text = path.read_text()
        start = re.search(r"'/(apis?)/([^'/]+)", text)
        assert start is not None, path
        group = start[2] if start[1] == "apis" else ""
        if group in _LATER:
            continue
        words = map(_LIST.fullmatch, set(re.findall(r"[A-Z]\w*List\b", text)))
        lists = {word[1] for word in words if word} - _NO_OBJECTS
        missing |= {f"{group} {kind}" for kind in lists - BUILTIN[group]}
    assert missing == set()


def test_kinds_elsewhere_are_known() -> None:
    """A kind of our own tables that is refused as a misspelt one."""
    named = {(kind.group, kind.kind) for kind in KINDS} | {(life.group, kind) for life in LIVES for kind in life.kinds}
    assert [each for each in named if each[0] in BUILTIN and each[1] not in BUILTIN[each[0]]] == []
    assert set(STABLE) == set(BUILTIN)
