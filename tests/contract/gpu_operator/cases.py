"""The cases: a ClusterPolicy, the nodes that it meets, and what of both differs from the usual ones."""

from pathlib import Path
from typing import Any

from pydantic import Field

from core.data_files import read, validate
from core.model import Model

FILE = Path(__file__).with_name("cases.yaml")
Object = dict[str, Any]


class Case(Model):
    """One ClusterPolicy on one cluster; what is not named is as in `usual`."""

    name: str
    spec: dict[str, Any] = Field(default={}, description="merged into the usual `spec`; null removes")
    nodes: dict[str, dict[str, str | None]] = Field(
        default={}, description="node -> labels that differ from a usual node's; null removes"
    )


class Cases(Model):
    """The content of cases.yaml."""

    spec: dict[str, Any] = Field(description="`spec` of a usual ClusterPolicy")
    labels: dict[str, str] = Field(description="labels of a usual node with GPUs")
    cases: tuple[Case, ...]

    def policy(self, case: Case) -> Object:
        """Return the `spec` of a case's ClusterPolicy."""
        return merged(self.spec, case.spec)

    def nodes(self, case: Case) -> dict[str, dict[str, str]]:
        """Return the labels of a case's nodes, by name."""
        return {name: merged(self.labels, changes) for name, changes in (case.nodes or {"gpu-1": {}}).items()}


def merged(base: Object, changes: Object) -> Object:
    """Return `base` with a JSON merge patch."""
    result = {**base}
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


def load() -> Cases:
    """Return the cases; raise DataFileError for a wrong file."""
    return validate(Cases, read(FILE), FILE)
