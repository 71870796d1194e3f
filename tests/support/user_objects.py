"""Manifests that a test creates on a cluster as a user does with `oc create`."""

from pathlib import Path
from typing import Any

import yaml

from core.apis import kinds, operators
from core.apis.kinds import Kind
from tests.engine.kit import Cluster
from tests.support.lab import eventually

EVERY = (*(value for value in vars(kinds).values() if isinstance(value, Kind)), *operators.kinds())
"""All kinds by name, those that the platform does not declare as well."""


def kind_of(body: dict[str, Any]) -> Kind:
    """Return the kind of an object."""
    return next(kind for kind in EVERY if (kind.api_version, kind.kind) == (body["apiVersion"], body["kind"]))


def created(cluster: Cluster, file: Path) -> None:
    """Do as `oc create -f` does, and again while a kind whose definition has just come is not served yet."""
    for body in yaml.safe_load_all(file.read_text()):
        path = kind_of(body).path(body["metadata"].get("namespace"))
        eventually(
            lambda: cluster.request("POST", path, body, manager="kubectl-create") is not None,  # noqa: B023
            f"{path} is not served",
        )
