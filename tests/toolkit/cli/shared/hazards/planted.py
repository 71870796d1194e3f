"""Objects in place of a cluster, and cases on disk of what they show.

A case is a YAML file below `signs/<sign>/allowed` or `denied`:

    expect: [[part of the text, ...], ...]   # one list for each hazard, in order; none for allowed ones
    objects: [{...}, ...]                    # in the API's form
    stack: h200-infiniband                   # optional: the stack whose settings count
    unserved: [APIRequestCount]              # optional: kinds that the cluster does not serve
    unread: "part of the reason"             # optional: the sign cannot be checked whole
    logs: {pod: "text"}                      # optional: what failing containers of pods printed
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from core.apis.kinds import Kind
from stacks.loading.settings import load
from stacks.settings.platform import Settings
from tests.support.recorded import ROOT
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards.live import UnreadError

Object = Mapping[str, Any]
SIGNS = Path(__file__).with_name("signs")
STACK = "h200-infiniband"


@dataclass(frozen=True)
class Planted:
    """A cluster that has these objects, and counts how often each kind is listed."""

    objects: Sequence[Object]
    unserved: frozenset[str] = frozenset()
    logs: Mapping[str, str] = field(default_factory=dict)

    def list(self, kind: Kind, namespace: str = "") -> Sequence[Object]:
        """Return the objects of a kind."""
        of_kind = (entry for entry in self.objects if (entry["apiVersion"], entry["kind"]) == _named(kind))
        return [entry for entry in of_kind if not namespace or metadata.namespace(entry) == namespace]

    def needed(self, kind: Kind, namespace: str = "") -> Sequence[Object]:
        """Return the same."""
        if kind.kind in self.unserved:
            raise UnreadError(f"the cluster does not serve {kind.kind}")
        return self.list(kind, namespace)

    def rows(self, kind: Kind) -> Sequence[Object]:
        """Return the columns of APIRequestCounts."""
        return [
            {
                "Name": metadata.name(entry),
                "RemovedInRelease": entry["status"].get("removedInRelease"),
                "RequestsInCurrentHour": 0,
                "RequestsInLast24h": entry["status"]["requestCount"],
            }
            for entry in self.needed(kind)
        ]

    def find(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Return one object."""
        return next((entry for entry in self.list(kind, namespace) if metadata.name(entry) == name), None)

    def last_lines(self, pod: Object, container: str) -> str:
        """Return the log of a pod, whose containers are one here."""
        assert container
        return self.logs.get(metadata.name(pod), "")


def _named(kind: Kind) -> tuple[str, str]:
    return kind.api_version, kind.kind


@dataclass(frozen=True, eq=False)
class Case:
    """One file."""

    sign: str
    name: str
    live: Planted
    expect: Sequence[Sequence[str]]
    stack: str = STACK
    unread: str = ""

    def __str__(self) -> str:
        """Return the id of the parametrised test."""
        return f"{self.sign}/{self.name}"


@cache
def settings(stack: str) -> Settings:
    """Return the settings of a stack."""
    return load(stack, ROOT)


def cases() -> Iterator[Case]:
    """Yield every file's case."""
    for path in sorted(SIGNS.glob("*/*/*.yaml")):
        content = yaml.safe_load(path.read_text())
        unserved, logs = frozenset(content.pop("unserved", ())), content.pop("logs", {})
        live = Planted(content.pop("objects"), unserved, logs)
        yield Case(path.parents[1].name, f"{path.parent.name}/{path.stem}", live, **content)
