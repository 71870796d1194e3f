"""Manifests of objects, in the one form in which every part of the simulated cluster writes them."""

from collections.abc import Mapping, Sequence
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from core.simulated import SIMULATED_BY

Manifest = dict[str, Any]


def manifest(
    kind: Kind,
    name: str,
    namespace: str | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owners: Sequence[Manifest] = (),
    **fields: Any,
) -> Manifest:
    """Return an object of a kind; `owners` are its owner references, `fields` what it has beside its metadata."""
    optional = {"namespace": namespace, "labels": labels, "annotations": annotations, "ownerReferences": [*owners]}
    metadata = {"name": name, **{key: value for key, value in optional.items() if value}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}


def simulated_by(by: str) -> dict[str, str]:
    """Return the annotation that says that an object's maker is simulated."""
    return {SIMULATED_BY: f"toolkit.simulator.actors: {by}"}


def owner_reference(owner: Manifest, *, controller: bool = True) -> Manifest:
    """Return the reference by which an object belongs to `owner`."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": controller,
    }


def of_pods(kind: Kind, namespace: str, name: str, pod_spec: Manifest, by: str, **spec: Any) -> tuple[Kind, Manifest]:
    """Return a DaemonSet, Deployment or StatefulSet whose pods have the label `app: name`."""
    labels = {"app": name}
    whole = {
        **spec,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod_spec},
    }
    return kind, manifest(kind, name, namespace, labels=labels, annotations=simulated_by(by), spec=whole)


def daemon_set(namespace: str, name: str, pod_spec: Manifest, by: str) -> tuple[Kind, Manifest]:
    """Return a DaemonSet whose pods have the label `app: name`."""
    return of_pods(kinds.DAEMON_SET, namespace, name, pod_spec, by)


def deployment(namespace: str, name: str, pod_spec: Manifest, by: str) -> tuple[Kind, Manifest]:
    """Return a Deployment of one pod, which has the label `app: name`."""
    return of_pods(kinds.DEPLOYMENT, namespace, name, pod_spec, by, replicas=1)
