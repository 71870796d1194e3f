"""Manifests that a test creates on a cluster as a user does with `oc create`."""

from pathlib import Path
from typing import Any

import yaml

from apis import kinds
from apis.kinds import Kind
from tests.engine.kit import Cluster


def kind_of(body: dict[str, Any]) -> Kind:
    """Return the kind of an object."""
    return next(each for each in kinds.KINDS if (each.api_version, each.kind) == (body["apiVersion"], body["kind"]))


def created(cluster: Cluster, file: Path) -> None:
    """Do as `oc create -f` does."""
    for body in yaml.safe_load_all(file.read_text()):
        cluster.request("POST", kind_of(body).path(body["metadata"].get("namespace")), body, manager="kubectl-create")
